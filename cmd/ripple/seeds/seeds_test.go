package seeds

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
)

// Lists of seeds are read as spreadsheets and editors write them.
func TestSeedLines(t *testing.T) {
	const a, b = "https://a.test/", "https://b.test/x,y"
	for _, tt := range []struct {
		text, err string
		want      []string
	}{
		{text: a + "\r\n" + b + "\r\n", want: []string{a, b}},
		{text: "\ufeffURL\r" + a + "\r\r" + b + "\r", want: []string{a, b}},
		{text: "Site,\n" + a + ",,\n,,\n" + b + ";\n" + a + "\t\n", want: []string{a, b, a}},
		{text: "\"" + b + ",\",\n", want: []string{b + ","}},
		{text: "# note\n" + a + "\u200b\n\ufeff# joined\n\ufeff" + b, want: []string{a, b}},
		{text: "# note\n\n  " + a + "  \n\" " + b + " \"", want: []string{a, b}},
		{text: a + "\nhttps://b.test/caf\xe9\n", err: "line 2: https://b.test/caf\ufffd is not in UTF-8"},
		{text: "\"" + a + "\",\"Ada\"", err: "each line must hold one URL"},
		{text: "URL;Name\n" + a + ";Ada", want: []string{"URL;Name", a + ";Ada"}}, // the first is refused
		{text: "URL\n", err: "contains no URL"},
		{text: "\xff\xfeh\x00", err: "UTF-16"},
	} {
		s := Extra{file: "list"}
		err := s.readFrom(strings.NewReader(tt.text))
		if tt.err == "" && (err != nil || !slices.Equal(s.URLs, tt.want)) {
			t.Errorf("%q: %q, %v", tt.text, s.URLs, err)
		}
		if tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
			t.Errorf("%q: %v; want %q", tt.text, err, tt.err)
		}
	}
}

// The message for a refused seed names its line.
func TestSeedLineRefused(t *testing.T) {
	cfg := crawltest.Parse(t, "[user-agent]\ncrawler-name = \"x\"\n[[quality]]\ndomain = \"a.test\"\n"+
		"seeds = [\"https://a.test/\"]\n")
	s := Extra{file: "list"}
	lines := "URL\nhttps://a.test/1\nhttps://a.test/2\tAda\nhttps://a.test/ # 3"
	if err := s.readFrom(strings.NewReader(lines)); err != nil {
		t.Fatal(err)
	}
	_, err := s.Join(cfg)
	if text := term.Complaint(err); !strings.Contains(text, "list:3: ") || !strings.Contains(text, "list:4: ") {
		t.Error(text)
	}
}

// Every seed of a run that a configuration now refuses takes the same time to drop.
func TestManyKeptSeedsRefused(t *testing.T) {
	cfg := crawltest.Parse(t, "[user-agent]\ncrawler-name = \"x\"\n[[quality]]\ndomain = \"a.test\"\n"+
		"seeds = [\"https://a.test/\"]\n")
	took := func(many int) uint64 {
		s := Extra{URLs: []string{"https://a.test/own", "https://a.test/kept"}}
		for i := range many {
			s.URLs = append(s.URLs, fmt.Sprintf("https://b.test/%d", i))
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		more, err := s.JoinKept(cfg, 1)
		runtime.ReadMemStats(&after)
		if err != nil || len(s.URLs) != 2 || len(more.Quality[0].Seeds) != 3 {
			t.Fatalf("%q, %v", s.URLs, err)
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	if few, many := took(1000), took(8000); many > 16*few {
		t.Errorf("%d bytes are allocated for eight times as many seeds, and %d for these", many, few)
	}
}
