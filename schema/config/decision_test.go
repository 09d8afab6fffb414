package config

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/process"
)

const underDecisions = `
[user-agent]
crawler-name = "T"
[decisions]
file = "d.toml"
[[quality]]
domain = "*.a.test"
seeds = ["https://a.test/"]
[[blacklist]]
domain = "*.track.test"
[[blacklist]]
url = '/logout'
[[stub]]
domain = "forge.test"
[[stub]]
url = '/print$'
`

// decidedBy returns a configuration with a decisions file; "": without one.
func decidedBy(t testing.TB, text string) (*Config, error) {
	t.Helper()
	c, _, err := Parse([]byte(underDecisions), filepath.FromSlash("/dir"), func(path string) ([]byte, error) {
		if text == "" || filepath.Base(path) != "d.toml" {
			return nil, fs.ErrNotExist
		}
		return []byte(text), nil
	})
	return c, err
}

func entry(host, class, more string) string {
	return "[[decision]]\nhost = \"" + host + "\"\nclass = \"" + class + "\"\n" + more
}

// A decision overrides the lists of names, for one host on every port; url patterns override it. The
// effective text agrees.
func TestDecisions(t *testing.T) {
	c, err := decidedBy(t, entry("pixel.track.test", "quality", "")+entry("b.a.test", "stub", "")+
		entry("www.forge.test", "blacklist", "")+entry("Bücher.test", "quality", "seeds = [\"https://bücher.test/x\"]\n")+
		entry("c.test", "later", "tags = [\"x\"]\n"))
	if err != nil {
		t.Fatal(err)
	}
	stored, err := ParseEffective(c.Effective())
	if err != nil {
		t.Fatal(err)
	}
	if stored.Hash() != c.Hash() {
		t.Error("the stored text means something else")
	}
	tests := []struct{ url, class, rule string }{
		{"https://pixel.track.test/x", "quality", `quality decision "pixel.track.test"`},
		{"https://pixel.track.test:8443/x", "quality", `quality decision "pixel.track.test"`},
		{"https://x.pixel.track.test/", "blacklist", `blacklist "*.track.test"`},
		{"https://pixel.track.test/logout", "blacklist", `blacklist url '/logout'`},
		{"https://b.a.test/", "stub", `stub decision "b.a.test"`},
		{"https://b.a.test/logout", "blacklist", `blacklist url '/logout'`},
		{"https://a.test/", "quality", `quality "*.a.test"`},
		{"https://forge.test/print", "stub", `stub url '/print$'`},
		{"https://forge.test/", "blacklist", `blacklist decision "forge.test"`},
		{"https://xn--bcher-kva.test/", "quality", `quality decision "xn--bcher-kva.test"`},
		{"https://c.test/", "discovered", ""},
	}
	for _, cfg := range []*Config{c, stored} {
		for _, tt := range tests {
			if v := cfg.Scope().Classify(tt.url); v.Class.String() != tt.class || v.Rule != tt.rule {
				t.Errorf("%s: %s by %s, want %s by %s", tt.url, v.Class, v.Rule, tt.class, tt.rule)
			}
		}
		var seeds []string
		for _, o := range cfg.Scope().Origins() {
			seeds = append(seeds, o.Name+" "+strings.Join(o.Seeds, " "))
		}
		want := []string{"*.a.test https://a.test/", "pixel.track.test https://pixel.track.test/",
			"xn--bcher-kva.test https://bücher.test/x"}
		if diff := cmp.Diff(want, seeds); diff != "" {
			t.Error(diff)
		}
	}
	if diff := cmp.Diff(schema.HostNotes{"c.test": {Tags: []string{"x"}, Later: true}}, c.Notes()); diff != "" {
		t.Error(diff)
	}
}

// Tags, notes and "later" are not part of the hash, and neither is a missing decisions file.
func TestNotesOutsideTheHash(t *testing.T) {
	plain, err := decidedBy(t, "")
	if err != nil {
		t.Fatal(err)
	}
	noted, err := decidedBy(t, "# ours\n"+entry("c.test", "later", "tags = [\"b\", \"a\", \"b\"]\nnote = \"n\"\n"))
	if err != nil {
		t.Fatal(err)
	}
	stub, err := decidedBy(t, entry("c.test", "stub", ""))
	if err != nil {
		t.Fatal(err)
	}
	if plain.Hash() != noted.Hash() || plain.Hash() == stub.Hash() {
		t.Error("notes are in the hash, or a class is not")
	}
	if got := noted.Notes().Of("c.test:8443").TagText(); got != "a,b" {
		t.Errorf("tags %q", got)
	}
	with, err := noted.WithSeeds([]string{"https://a.test/more"}, false)
	if err != nil || with.Notes().Of("c.test").Note != "n" {
		t.Errorf("with more seeds: %v, %v", with.Notes(), err)
	}
}

// Invalid decisions are reported with file and line, all at once.
func TestWrongDecisions(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"already an origin", entry("*.a.test", "quality", ""), "is a pattern"},
		{"twice", entry("c.test", "stub", "") + entry("c.test", "later", ""), "d.toml:4: "},
		{"a seed elsewhere", entry("c.test", "quality", "seeds = [\"https://d.test/\"]\n"), "does not belong to"},
		{"a seed over http", entry("c.test", "quality", "seeds = [\"http://c.test/\"]\n"), "must begin with https://"},
		{"an origin's seed is refused", entry("a.test", "blacklist", ""), `is refused by blacklist decision "a.test"`},
		{"no TOML", "[[decision", "no TOML"},
		{"another table", "\n[[quality]]\ndomain = \"c.test\"\n", "d.toml:2: unknown table"},
		{"of no line", "decision = [{host = \"c.test\"}]\n", "d.toml: [[decision]] class is missing"},
		{"too large", strings.Repeat("#", maxFile+1), "d.toml: "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := decidedBy(t, tt.text)
			var all *Errors
			if !errors.As(err, &all) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v\nwant %q", err, tt.want)
			}
		})
	}
	text := strings.Replace(underDecisions, "*.a.test", "a.test", 1)
	decided := func(string) ([]byte, error) { return []byte(entry("a.test", "quality", "")), nil }
	_, _, err := Parse([]byte(text), "/dir", decided)
	if err == nil || !strings.Contains(err.Error(), "is the domain of a [[quality]] entry already") {
		t.Errorf("an origin decided again: %v", err)
	}
}

// The time to read decisions grows linearly with their number.
func TestManyDecisions(t *testing.T) {
	const many = 30_000
	all := make([]Decision, many)
	for i := range all {
		host, _, err := ParseDecidedHost(fmt.Sprintf("host-%d.test", i))
		if err != nil {
			t.Fatal(err)
		}
		all[i] = Decision{Host: host, Class: DecidedQuality}
	}
	best := time.Hour
	for range 3 {
		var c Config
		began := process.CPUTime()
		c.decide(nil, slices.Clone(all))
		if best = min(best, process.CPUTime()-began); len(c.Quality) != many {
			t.Fatalf("%d origins", len(c.Quality))
		}
	}
	if best > time.Second && !process.Race {
		t.Errorf("took %v", best)
	}
}
