package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/schema/process"
)

// minimal is the shortest valid configuration without notices.
const minimal = `[user-agent]
crawler-name = "Test"
contact-url = "https://example.com/about"
[[quality]]
domain = "example.com"
seeds = ["https://example.com/"]
`

func parseText(text string) (*Config, []Notice, error) {
	return Parse([]byte(text), "/etc/ripple", noFiles)
}

func mustParse(t testing.TB, text string) *Config {
	t.Helper()
	c, _, err := parseText(text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A single skipped line is reported in the singular.
func TestOneLineSkipped(t *testing.T) {
	read := func(string) ([]byte, error) { return []byte("a.example\n##.banner\n"), nil }
	_, notices, err := Parse([]byte(minimal+"[[blacklist]]\nfile = \"list\"\n"), "/etc/ripple", read)
	want := `"/etc/ripple/list": 1 line is not a name and was skipped`
	if err != nil || len(notices) != 1 || !strings.HasSuffix(string(notices[0]), want) {
		t.Errorf("%q, %v; want %s", notices, err, want)
	}
}

// A list with an unreadable line is refused, and the line reported.
func TestListLineRefused(t *testing.T) {
	read := func(string) ([]byte, error) { return []byte("a.example\n\nb c\n"), nil }
	_, _, err := Parse([]byte(minimal+"[[stub]]\nfile = \"list\"\n"), "/etc/ripple", read)
	want := `[[stub]] file: "/etc/ripple/list" line 3: "b c" is not a host name`
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

// A UTF-16 list is refused: it would have no names.
func TestListInUTF16(t *testing.T) {
	for _, text := range []string{"\xff\xfea\x00.\x00b\x00\n\x00", "\xfe\xff\x00a\x00.\x00b\x00\n"} {
		read := func(string) ([]byte, error) { return []byte(text), nil }
		_, _, err := Parse([]byte(minimal+"[[blacklist]]\nfile = \"list\"\n"), "/etc/ripple", read)
		if want := `[[blacklist]] file: "/etc/ripple/list" is UTF-16; save it as UTF-8`; err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// The full example, with the defaults written out, agrees with the minimal one on shared keys.
func TestLoadFull(t *testing.T) {
	c, notices, err := Load("testdata/full.toml")
	if err != nil {
		t.Fatal(err)
	}
	if len(notices) != 2 || !strings.Contains(string(notices[0])+string(notices[1]), "3 lines are not names") {
		t.Errorf("notices %q", notices)
	}
	dir, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	if c.State.Path != filepath.Join(dir, "ripple.bolt") || c.Blacklist[1].File != filepath.Join(dir, "hosts.txt") {
		t.Errorf("paths %q, %q", c.State.Path, c.Blacklist[1].File)
	}
	if c.Crawler.MinimumTimeOnPage != time.Second || c.Content.MaxResponseBytes != 10_000_000 ||
		c.Politeness.MinimumTimePerAddress != 100*time.Millisecond {
		t.Errorf("units are wrong: %+v %+v %+v", c.Crawler, c.Content, c.Politeness)
	}
	if got := c.Network.ConnectTo["*.docs.test"]; got != "127.0.0.1:8443" {
		t.Errorf("connect-to %q", c.Network.ConnectTo)
	}
	for url, want := range map[string]string{
		"https://ads.example.net/":             "blacklist file hosts.txt: ads.example.net",
		"https://x.wild.example/":              "blacklist file hosts.txt: *.wild.example",
		"https://doubleclick.net/":             "blacklist preset ads: *.doubleclick.net",
		"https://github.com/owner/repo":        `stub "github.com"`,
		"https://blog.another-site.org/logout": `blacklist url '/logout($|\?)'`,
		"https://blog.another-site.org/":       `quality "*.another-site.org"`,
		"https://elsewhere.org/":               "",
	} {
		if got := c.Scope().Classify(url); got.Rule != want {
			t.Errorf("%s is classed by %q, want %q", url, got.Rule, want)
		}
	}
	if got := c.Scope().Entity("https://github.com/owner/repo"); got != "github.com/owner" {
		t.Errorf("entity %q", got)
	}
	if c.Extracts[0].Domain == nil || !c.Extracts[0].Domain.Match("another-site.org") {
		t.Errorf("extract %+v", c.Extracts[0])
	}
}

// Each table and key of the full example is known, and has the default value.
func TestDefaultsAreThoseOfTheExample(t *testing.T) {
	full, _, err := Load("testdata/full.toml")
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	plain, _, err := Parse([]byte(minimal), dir, noFiles)
	if err != nil {
		t.Fatal(err)
	}
	full.UserAgent, full.Output, full.Network.ConnectTo = plain.UserAgent, plain.Output, plain.Network.ConnectTo
	full.Recrawl.Given = false // absent by default
	a, _, _ := strings.Cut(string(full.Effective()), "[[")
	b, _, _ := strings.Cut(string(plain.Effective()), "[[")
	if diff := cmp.Diff(b, a); diff != "" {
		t.Error(diff)
	}
}

func TestLoadRefuses(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	list := func(name string) string { return minimal + fmt.Sprintf("[[blacklist]]\nfile = %q\n", name) }
	tests := []struct{ name, path, want string }{
		{"missing", filepath.Join(dir, "none.toml"), "no such file"},
		{"folder", dir, "is a folder"},
		{"NUL", write("nul.toml", minimal+"\x00"), ":7: "},
		{"UTF-16", write("utf16.toml", "\xff\xfe[\x00"), ":1: "},
		{"syntax", write("syntax.toml", "[crawler]\nmax-depth = = 3\n"), ":2: no TOML: "},
		{"list missing", write("a.toml", list("none.txt")),
			":8: [[blacklist]] file: \"" + dir + "/none.txt\" does not exist"},
		{"list folder", write("b.toml", list(".")), "is a folder"},
		{"anchors missing", write("c.toml", minimal+"[network]\nca-file = \"none.pem\"\n"), ":8: [network] ca-file: "},
		{"anchors empty", write("d.toml", minimal+"[network]\nca-file = \"a.toml\"\n"), "contains no certificate"},
		{"anchors of the hub missing", write("f.toml", minimal+"[cluster]\nca-file = \"none.pem\"\n"),
			":8: [cluster] ca-file: "},
		{"a million seeds", write("e.toml", strings.Replace(minimal, "seeds = [",
			"seeds = ["+strings.Repeat("\"https://example.com/a\",\n", 1_000_000), 1)), "larger than 4 MiB"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			start := process.CPUTime()
			c, _, err := Load(tt.path)
			var errs *Errors
			if c != nil || !errors.As(err, &errs) || errs.Path != tt.path {
				t.Fatalf("Load = %v, %v", c, err)
			}
			if !strings.HasPrefix(err.Error(), tt.path+":") || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %q, want %q", err, tt.want)
			}
			if took := process.CPUTime() - start; took > 5*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
	if _, _, err := Load(filepath.Join(dir, "none.toml")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file is not fs.ErrNotExist: %v", err)
	}
}

// Input that would make the decoder recurse endlessly or take quadratic time is refused first.
func TestHostileShapes(t *testing.T) {
	var many strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&many, "k%d=1\n", i)
	}
	for name, text := range map[string]string{
		"arrays":        "a=" + strings.Repeat("[", 4<<20-2),
		"inline tables": "a=" + strings.Repeat("{a=", 1<<20),
		"dotted key":    strings.Repeat("a.", 1<<20) + "a=1",
		"dotted header": "[" + strings.Repeat("a.", 1<<20) + "a]",
		"inline dots":   "a={" + strings.Repeat("\"b\".", 1<<19) + "a=1}",
		"many keys":     many.String(),
		"many tables":   strings.Repeat("[[quality]]\n", 300_000),
		"empty seeds":   strings.Replace(minimal, "seeds = [", "seeds = ["+strings.Repeat("\"\",", 1<<20), 1),
		"open string":   `a="""` + strings.Repeat("x\n", 1<<20),
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := parseText(text)
			var errs *Errors
			if !errors.As(err, &errs) || len(err.Error()) > 100_000 {
				t.Fatalf("error of %d bytes: %.300v", len(fmt.Sprint(err)), err)
			}
		})
	}
}

func TestLongList(t *testing.T) {
	var names strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&names, "0.0.0.0 ads%d.example-%d.net\n", i, i%977)
	}
	read := func(string) ([]byte, error) { return []byte(names.String()), nil }
	c, notices, err := Parse([]byte(minimal+"[[blacklist]]\nfile = \"hosts.txt\"\n"), "/etc", read)
	if err != nil || len(notices) > 0 || len(c.Blacklist[0].Names) != 200_000 {
		t.Fatalf("%v, %q", err, notices)
	}
	again, err := ParseEffective(c.Effective())
	if err != nil {
		t.Fatal(err)
	}
	if again.Hash() != c.Hash() {
		t.Error("the hash is another one")
	}
	if got := again.Scope().HostClass("ads5.example-5.net").Rule; got != "blacklist file hosts.txt: ads5.example-5.net" {
		t.Errorf("rule %q", got)
	}
}

func BenchmarkLongList(b *testing.B) {
	var names strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&names, "0.0.0.0 ads%d.example-%d.net\n", i, i%977)
	}
	read := func(string) ([]byte, error) { return []byte(names.String()), nil }
	text := []byte(minimal + "[[blacklist]]\nfile = \"hosts.txt\"\n")
	c, _, err := Parse(text, "/etc", read)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("parse", func(b *testing.B) {
		for b.Loop() {
			if _, _, err := Parse(text, "/etc", read); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("hash", func(b *testing.B) {
		for b.Loop() {
			c.Hash()
		}
	})
	stored := c.Effective()
	b.Run("parse effective", func(b *testing.B) {
		for b.Loop() {
			if _, err := ParseEffective(stored); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// Only settings of one machine may differ between the nodes of a terrain.
func TestShared(t *testing.T) {
	base := mustParse(t, minimal)
	alike := minimal + `[state]
path = "elsewhere.bolt"
[output]
map-path = "map.html"
[cluster]
hub = "nats://127.0.0.1:4222"
folder = "x"
[pages]
path = "pages"
[network]
max-open = 500
memory-limit = "1GB"
[[blacklist]]
domain = "ads.example"
`
	other := mustParse(t, alike)
	if base.SharedHash() == other.SharedHash() {
		t.Error("a list makes no difference")
	}
	if other.SharedHash() != mustParse(t, minimal+"[[blacklist]]\ndomain = \"ads.example\"\n").SharedHash() {
		t.Errorf("files and limits make one:\n%s", other.Shared())
	}
	if base.SharedHash() == mustParse(t, "[crawler]\nmax-depth = 1\n"+minimal).SharedHash() {
		t.Error("another depth makes no difference")
	}
	deeper := mustParse(t, "[crawler]\nmax-depth = 1\n"+minimal)
	if base.ReadingHash() == deeper.ReadingHash() || base.ReadingHash() == other.ReadingHash() {
		t.Error("another terrain is read alike")
	}
	if base.ReadingHash() != mustParse(t, minimal+"[pages]\nkeep = true\n[politeness]\nmax-rate-limits = 3\n").ReadingHash() {
		t.Error("settings of requests change what is read")
	}
}
