package terrain

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

func texts(all []Pattern) []string {
	var list []string
	for _, p := range all {
		list = append(list, p.String())
	}
	return list
}

func TestParseListFile(t *testing.T) {
	tests := []struct {
		name, in string
		want     []string
		skipped  int
	}{
		{name: "empty"},
		{name: "plain names", in: "a.com\nB.com\r\n*.c.com\nwww.d.com", want: []string{"a.com", "b.com", "*.c.com", "d.com"}},
		{name: "byte order mark", in: "\ufeffa.com\n", want: []string{"a.com"}},
		{name: "hosts file",
			in: "127.0.0.1 localhost\n::1\tip6-localhost ip6-loopback\n0.0.0.0 0.0.0.0\n0.0.0.0 a.com b.com # why\n" +
				":: c.com\n127.0.0.1 localhost.localdomain\n",
			want: []string{"a.com", "b.com", "c.com"}},
		{name: "comments", in: "# one\n! two\n[Adblock Plus 2.0]\n  # three\na.com # four\n\t\n", want: []string{"a.com"}},
		{name: "adblock names", in: "||a.com^\n||b.com^\n", want: []string{"*.a.com", "*.b.com"}},
		{name: "adblock rules are skipped",
			in: "||a.com^$third-party\n@@||b.com^\nc.com##.banner\nd.com#@#.x\n/banner/*\n||e.com/ads\n||*.f.com^\n-ads-\n" +
				"||1.2.3.4^\n||g.com\n|https://h.com|\n", skipped: 10,
			want: []string{"-ads-"}},
		{name: "element rules of all pages",
			in:   "##.banner\n###ad\n##[id^=\"ad\"]\n#@#.x\n#?#div:has(a)\n#$#body{}\n#$?#p{}\n  ##div > a\n##+js(x)\na.com\n",
			want: []string{"a.com"}, skipped: 9},
		{name: "comments that are no element rules",
			in:   "## two\n### Three\n#####\n#-----#\n##----\n##====\n#\n#a#b\n# see ##.banner\na.com ## why\n",
			want: []string{"a.com"}},
		{name: "a wildcard in a hosts file", in: "0.0.0.0 *.a.com\n", skipped: 1},
		{name: "hyphens at the ends, as some names have", in: "-a-.example.com\n0.0.0.0 b-.example.com\n",
			want: []string{"-a-.example.com", "b-.example.com"}},
		{name: "two words", in: "a.com b.com\n", skipped: 1},
		{name: "a URL", in: "https://a.com/\n", skipped: 1},
		{name: "NUL", in: "a\x00.com\nb.com\n", want: []string{"b.com"}, skipped: 1},
		{name: "endless line", in: strings.Repeat("a", 100_000) + "\nb.com\n" + strings.Repeat("c.", 9000),
			want: []string{"b.com"}, skipped: 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, skipped, err := ParseListFile(strings.NewReader(tt.in))
			if err != nil || skipped != tt.skipped {
				t.Errorf("skipped %d lines, %v; want %d", skipped, err, tt.skipped)
			}
			if diff := cmp.Diff(tt.want, texts(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestParseListFileReadError(t *testing.T) {
	broken := errors.New("broken disk")
	if _, _, err := ParseListFile(iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}

func TestPresets(t *testing.T) {
	for _, name := range Presets() {
		all, err := Preset(name)
		if err != nil {
			t.Fatal(err)
		}
		if len(all) < 20 || len(all) > 60 {
			t.Errorf("%s has %d names", name, len(all))
		}
		sorted := slices.Clone(all)
		slices.SortFunc(sorted, Pattern.Compare)
		if unique := slices.Compact(sorted); len(unique) != len(all) {
			t.Errorf("%s names one twice", name)
		}
		for _, p := range all {
			if p.below && !strings.Contains(p.base, ".") {
				t.Errorf("%s takes all of %s", name, p)
			}
		}
	}
	if _, err := Preset("../presets/ads"); err == nil {
		t.Error("a path is a preset")
	}
}

// What was read can be written as a list and read again; no more lines are skipped
// than there are.
func FuzzParseListFile(f *testing.F) {
	f.Add("a.com\n*.b.com\n||c.com^\n0.0.0.0 d.com e.com # x\n@@||f.com^\n! g\n")
	f.Add("\ufeff[Adblock]\r\n::1 localhost\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		all, skipped, err := ParseListFile(strings.NewReader(text))
		if err != nil || skipped > strings.Count(text, "\n")+1 {
			t.Fatalf("skipped %d of %d lines, %v", skipped, strings.Count(text, "\n")+1, err)
		}
		again, skipped, err := ParseListFile(strings.NewReader(strings.Join(texts(all), "\n")))
		if err != nil || skipped != 0 || !slices.Equal(all, again) {
			t.Errorf("%q, written and read: %q, %d skipped, %v", texts(all), texts(again), skipped, err)
		}
	})
}
