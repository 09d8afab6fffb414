package config

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestWithSeedsKeepsTheRest checks that everything but seeds is kept, including values that are never
// displayed.
func TestWithSeedsKeepsTheRest(t *testing.T) {
	c := mustParse(t, minimal+"[network]\nproxy = \"http://me:secret@proxy.test:3128\"\n")
	more, err := c.WithSeeds([]string{"https://" + c.Quality[0].Pattern.String() + "/x"}, false)
	if err != nil {
		t.Fatal(err)
	}
	for i, field := range reflect.VisibleFields(reflect.TypeOf(*c)) {
		if !field.IsExported() || field.Name == "Quality" {
			continue
		}
		was, is := reflect.ValueOf(*c).Field(i), reflect.ValueOf(*more).Field(i)
		if fmt.Sprintf("%+v", is) != fmt.Sprintf("%+v", was) {
			t.Errorf("%s: %+v, before %+v", field.Name, is, was)
		}
	}
}

func TestWithSeeds(t *testing.T) {
	c := mustParse(t, minimal+"[[blacklist]]\ndomain = \"*.bad.test\"\n")
	own := c.Quality[0]
	host := own.Pattern.String()
	before := c.Hash()
	more, err := c.WithSeeds([]string{"https://" + host + "/x", own.Seeds[0], "https://" + host + "/x"}, false)
	if err != nil {
		t.Fatal(err)
	}
	want := append(append([]string{}, own.Seeds...), "https://"+host+"/x")
	if diff := cmp.Diff(want, more.Quality[0].Seeds); diff != "" {
		t.Errorf("seeds (-want +got):\n%s", diff)
	}
	if c.Hash() != before || len(c.Quality[0].Seeds) != len(own.Seeds) {
		t.Error("the configuration has changed")
	}
	if again, err := more.WithSeeds(nil, false); err != nil || again.Hash() != more.Hash() {
		t.Errorf("no seeds make another configuration (%v)", err)
	}

	more, err = c.WithSeeds([]string{"https://new.test:8443/a", "https://new.test/b", "https://[2001:4860::1]/"}, true)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(more.Quality); n != len(c.Quality)+2 || more.Quality[n-2].Name != "new.test" ||
		len(more.Quality[n-2].Seeds) != 2 {
		t.Errorf("origins %+v", more.Quality)
	}
	if len(more.Scope().OriginsOf("new.test")) != 1 {
		t.Error("the terrain does not know the new origin")
	}

	_, err = c.WithSeeds([]string{"https://new.test/", "https://x.bad.test/", "http://" + host + "/", "nonsense",
		"ftp://" + host + "/"}, false)
	var refused *Errors
	if !errors.As(err, &refused) || len(refused.List) != 5 {
		t.Fatalf("refused: %v", err)
	}
	for i, want := range []string{"--as-quality", "--as-quality", "must begin with https://", "is not a URL",
		"is not a URL that can be crawled"} {
		if p := refused.List[i]; p.Line != i+1 || !strings.Contains(p.Text, want) {
			t.Errorf("line %d: %q, want %q", p.Line, p.Text, want)
		}
	}
	if _, err := c.WithSeeds([]string{"https://x.bad.test/"}, true); err == nil ||
		!strings.Contains(err.Error(), "is refused by") {
		t.Errorf("a blacklisted seed: %v", err)
	}
}

// The same holds for an added seed.
func TestAddedSeedsAtBadPorts(t *testing.T) {
	c := mustParse(t, minimal)
	host := c.Quality[0].Pattern.String()
	if _, err := c.WithSeeds([]string{"https://" + host + ":25/"}, false); err == nil ||
		!strings.Contains(err.Error(), "is at port 25") {
		t.Errorf("added: %v", err)
	}
}

// A seed on a port of another service is refused unless the user says where to connect.
func TestSeedsAtBadPorts(t *testing.T) {
	tests := []struct{ seed, network, err string }{
		{"https://a.test/ # main", "", "has a space in it"},
		{"https://a.test:22/", "", "is at port 22"},
		{"https://www.a.test:06667/", "", "is at port 6667"},
		{"https://a.test:8443/", "", ""},
		{"https://a.test:22/", `proxy = "http://127.0.0.1:3128"`, ""},
		{"https://a.test:22/", `connect-to = {"a.test" = "127.0.0.1:8443"}`, ""},
		{"https://a.test:22/", `connect-to = {"*.test:22" = "127.0.0.1:8443"}`, ""},
		{"https://a.test:22/", `connect-to = {"a.test:23" = "127.0.0.1:8443", "b.test" = "127.0.0.1:8443"}`, "is at port 22"},
	}
	for _, tt := range tests {
		text := "[user-agent]\ncrawler-name = \"x\"\n[network]\n" + tt.network +
			"\n[[quality]]\ndomain = \"a.test\"\nseeds = [\"" + tt.seed + "\"]\n"
		_, _, err := parseText(text)
		if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
			t.Errorf("%s, %s: %v; want %q", tt.seed, tt.network, err, tt.err)
		}
	}
}

// The cost of seeds grows linearly with their number.
func TestManySeeds(t *testing.T) {
	c := mustParse(t, minimal)
	took := func(many int) uint64 {
		urls := make([]string, 0, 2*many)
		for i := range many {
			urls = append(urls, fmt.Sprintf("https://h%d.many.test/", i), fmt.Sprintf("https://%s/%d", c.Quality[0].Pattern, i))
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		more, err := c.WithSeeds(urls, true)
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(more.Quality); n != len(c.Quality)+many {
			t.Errorf("%d origins", n)
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	few, many := took(1000), took(8000)
	if many > 16*few {
		t.Errorf("%d bytes are allocated for eight times as many seeds, and %d for these", many, few)
	}
}
