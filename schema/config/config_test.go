package config

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// problems returns the errors of Parse for a text, without the path.
func problems(t *testing.T, text string) []string {
	t.Helper()
	c, _, err := parseText(text)
	if err == nil {
		return nil
	}
	var errs *Errors
	if c != nil || !errors.As(err, &errs) || len(errs.List) == 0 {
		t.Fatalf("Parse = %v, %v", c, err)
	}
	return strings.Split(strings.ReplaceAll(err.Error(), "config.toml", ""), "\n")
}

// A ruleRow is one key in an otherwise valid configuration, and a part of the expected error, or "".
type ruleRow struct{ key, want string }

// crawlerRules are rules on what is crawled and stored.
func crawlerRules() []ruleRow {
	return []ruleRow{
		{"crawler.max-depth = -1", "-1 is not between 0 and 250"},
		{"crawler.max-depth = 3.0", "want a whole number, not a number with a point"},
		{`crawler.max-depth = "3"`, "want a whole number, not a string"},
		{"crawler.max-depth = [3]", "want a whole number, not an array"},
		{"crawler.max-depth = {a = 1}", "want a whole number, not a table"},
		{"crawler.max-depth = 2026-01-15", "want a whole number, not a date"},
		{"crawler.max-concurrent-pages-open = 0", "0 is not between 1 and 100"},
		{"crawler.max-concurrent-pages-open = 101", "101 is not between 1 and 100"},
		{"crawler.max-concurrent-pages-open = 100", ""},
		{"network.max-open = -1", "-1 is not between 0 and 10000"},
		{"network.max-open = 10001", "10001 is not between 0 and 10000"},
		{"network.max-open = 10000", ""},
		{"crawler.minimum-time-on-page = 99", "99 is not between 100 and"},
		{"crawler.minimum-time-on-page = 100", ""},
		{`crawler.minimum-time-on-page = "1s"`, "want a whole number of milliseconds, not a string"},
		{"crawler.max-domain-requests = 0", "0 is less than 1"},
		{"crawler.max-pages = -1", "-1 is less than 0"},
		{"crawler.max-pages = 9223372036854775807", "not between"},
		{`crawler.max-run-time = "1x"`, `"1x" is not a duration`},
		{`crawler.max-run-time = "-1s"`, `not between "0s" and`},
		{"crawler.max-run-time = 5", "a duration is written as"},
		{`crawler.max-run-time = "1h30m"`, ""},
		{`crawler.head-check = "sometimes"`, `is not one of "always", "auto", "never"`},
		{`crawler.respect-noindex = "yes"`, "want true or false, not a string"},
		{`crawler.sitemaps = "only"`, ""},
		{`state.path = ""`, "is empty"},
		{`url.strip-params = ["a*b", "ok"]`, `[url] strip-params: parameter pattern "a*b"`},
		{"url.strip-params = [1]", "want a string in quotes, not a whole number"},
		{`url.strip-params = "ref"`, "want an array in [ ], not a string"},
		{"url.strip-params = []", ""},
		{"url.max-length = 63", "63 is not between 64 and 65536"},
		{"traps.max-path-depth = 0", ""},
	}
}

// networkRules are rules on requests and on monitoring.
func networkRules() []ruleRow {
	return []ruleRow{
		{`user-agent.crawler-version = "1.0 beta"`, "must be letters, digits"},
		{`user-agent.contact-email = "me@example.com"`, ""},
		{`user-agent.contact-email = "Me <me@example.com>"`, "is not an address"},
		{`user-agent.accept-language = ""`, ""},
		{`user-agent.accept-language = "de-AT, de;q=0.8, *;q=0.05"`, ""},
		{`user-agent.accept-language = "en\r\nX: y"`, "contains a control character"},
		{`user-agent.accept-language = "en;q=2"`, "is not a list of languages"},
		{`user-agent.accept-language = "en,"`, "is not a list of languages"},
		{`user-agent.accept-language = "en: x"`, "is not a list of languages"},
		{`user-agent.contact-email = "example.com"`, "is not an address"},
		{`user-agent.contact-email = "a@b\r\nX: y"`, "contains a control character"},
		{`user-agent.crawler-name = "x"`, "has already been defined"},
		{"retry.max-retries = 101", "101 is not between 0 and 100"},
		{`retry.timeout = "0s"`, "not between"},
		{`retry.backoff = "linear"`, "is not one of"},
		{"politeness.delay-factor = -0.5", "-0.5 is not between 0 and 1000"},
		{"politeness.delay-factor = nan", "NaN is not between"},
		{"politeness.delay-factor = inf", "+Inf is not between"},
		{"politeness.delay-factor = 2", ""},
		{"politeness.max-parallel-per-domain = 0", "not between 1 and 100"},
		{`content.max-response-bytes = "10 megabytes"`, "is not a size"},
		{`content.max-response-bytes = "99999999999GB"`, "is not a size"},
		{`content.max-response-bytes = "0B"`, "not between"},
		{`content.max-response-bytes = "16MiB"`, ""},
		{"content.max-response-bytes = 1000", ""},
		{`network.memory-limit = "auto"`, ""},
		{`network.memory-limit = "off"`, ""},
		{`network.memory-limit = "2GB"`, ""},
		{"network.memory-limit = 67108864", ""},
		{`network.memory-limit = "64MB"`, ""},
		{`network.memory-limit = "63MB"`, `63000000 bytes are not between "64MB" and "1024TiB"; "auto" and "off"`},
		{`network.memory-limit = "-1"`, `"-1" is not a size like "10MB" or "16MiB"; "auto" and "off" are possible`},
		{`network.memory-limit = "AUTO"`, `"AUTO" is not a size`},
		{`network.memory-limit = "75%"`, `"75%" is not a size`},
		{`network.memory-limit = "9999999TB"`, "is not a size"},
		{"network.memory-limit = -1", "not between"},
		{"network.memory-limit = 0", "not between"},
		{"network.memory-limit = 2.5", "not a number with a point; a size is written as"},
		{"network.memory-limit = []", "want a string in quotes, not an array"},
		{"content.accept-content-types = []", "is empty"},
		{`content.accept-content-types = ["html"]`, "is not a content type"},
		{`content.accept-content-types = ["*/html"]`, "is not a content type"},
		{`content.accept-content-types = ["text/*", "*/*", "image/svg+xml"]`, ""},
		{`network.proxy = "proxy.example.com:3128"`, "is not a URL like http://user:password@host:port"},
		{`network.proxy = "ftp://secret@proxy"`, "is not a URL like"},
		{`network.connect-to = {"https://a.test" = "127.0.0.1:1"}`, `write "a.test"`},
		{`network.connect-to = {"a.test" = "127.0.0.1"}`, "is not an address"},
		{`network.connect-to = {"a.test" = ":80"}`, "is not an address"},
		{`network.connect-to = {"a.test" = 80}`, "want a string"},
		{`network.connect-to = {"a.test" = "x:1", "www.a.test" = "x:1"}`, "named twice"},
		{`network.connect-to = {"a.test:8443" = "[::1]:1", "*.b.test" = "localhost:65535"}`, ""},
		{`network.allow-private = ["10.0.0.0/33"]`, "is not a range"},
		{`network.allow-private = ["10.0.0.1"]`, `write "10.0.0.1/32"`},
		{`network.allow-private = ["::1"]`, `write "::1/128"`},
		{`network.allow-private = ["10.1.2.3/8", "fd00::/8"]`, ""},
		{`monitor.listen = "9313"`, "is not an address"},
		{`monitor.listen = "127.0.0.1:7575"`, ""},
		{`monitor.listen = "[::1]:0"`, ""},
		{`monitor.listen = "localhost:7575"`, ""},
		{`monitor.listen = ":7575"`, "takes cert-file and key-file"},
		{`monitor.listen = "0.0.0.0:7575"`, "takes cert-file and key-file"},
		{`monitor.listen = "127.0.0.1.example.com:7575"`, "takes cert-file and key-file"},
		{`monitor.hosts = ["desk.example.com", "10.0.0.7"]`, ""},
		{`monitor.hosts = ["fd00::7", "desk.example.com."]`, ""},
		{`monitor.hosts = ["https://desk.example.com"]`, "is not a name"},
		{`monitor.hosts = ["desk.example.com:7575"]`, `has a port: write "desk.example.com"`},
		{`monitor.webhook = "ftp://x"`, "is not a URL"},
		{`monitor.report-path = "r\u0000.json"`, "contains a control character"},
	}
}

func TestKeyRules(t *testing.T) {
	for _, tt := range append(crawlerRules(), networkRules()...) {
		t.Run(tt.key, func(t *testing.T) {
			text := tt.key + "\n" + minimal
			if name, ok := strings.CutPrefix(tt.key, "user-agent."); ok {
				text = strings.Replace(minimal, "[[quality]]", name+"\n[[quality]]", 1)
			}
			got := strings.Join(problems(t, text), "\n")
			if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) || strings.Contains(got, "\n") {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if strings.Contains(got, "secret") {
				t.Error("the proxy's credentials are shown")
			}
		})
	}
}

// Each row is appended to an otherwise valid configuration.
func TestEntryRules(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"same domain", "[[quality]]\ndomain=\"www.Example.com\"\nseeds=[\"https://example.com/\"]",
			`:8: [[quality]] domain: "example.com" has an entry already, at line 5`},
		{"overlapping", "[[quality]]\ndomain=\"*.example.com\"\nseeds=[\"https://a.example.com/\"]", ""},
		{"no domain", "[[quality]]\nseeds=[\"https://a.com/\"]", ":7: [[quality]] domain is missing"},
		{"no seeds", "[[quality]]\ndomain=\"a.com\"", ":7: [[quality]] seeds is missing"},
		{"empty seeds", "[[quality]]\ndomain=\"a.com\"\nseeds=[]", ":9: [[quality]] seeds: is empty"},
		{"http seed", "[[quality]]\ndomain=\"a.com\"\nseeds=[\"http://a.com/\"]", "must begin with https://"},
		{"bare seed", "[[quality]]\ndomain=\"a.com\"\nseeds=[\"a.com\"]", `"a.com" is not a URL: one begins with https://`},
		{"bad seed", "[[quality]]\ndomain=\"a.com\"\nseeds=[\"https://a b/\"]",
			`"https://a b/" is not a URL that can be crawled`},
		{"long seed", "[[quality]]\ndomain=\"a.com\"\nseeds=[\"https://a.com/" + strings.Repeat("x", 3000) + "\"]",
			"URL too long"},
		{"foreign seed", "[[quality]]\ndomain=\"a.com\"\nseeds=[\"https://b.a.com/\"]", `does not belong to "a.com"`},
		{"seed of a port", "[[quality]]\ndomain=\"a.com\"\nseeds=[\"https://www.a.com:8443/\"]", ""},
		{"blacklisted seed", "[[quality]]\ndomain=\"a.com\"\nseeds=[\"https://a.com/\"]\n[[blacklist]]\ndomain=\"*.com\"",
			`is refused by blacklist "*.com"`},
		{"stub seed", "[[stub]]\nurl='^https://example\\.com/$'", `is refused by stub url '^https://example\.com/$'`},
		{"bad pattern", "[[stub]]\ndomain=\"https://a.com/x\"", `"https://a.com/x" is a URL, not a host name: write "a.com"`},
		{"no source", "[[stub]]", "[[stub]] has 0 of domain, file, preset and url: give exactly one"},
		{"two sources", "[[blacklist]]\ndomain=\"a.com\"\npreset=\"ads\"", ":7: [[blacklist]] has 2 of"},
		{"unknown preset", "[[blacklist]]\npreset=\"adds\"",
			`"adds" is not one of the built-in lists: ads, analytics, social`},
		{"names are not written", "[[blacklist]]\nnames=\"a.com\"", `unknown key "names" in [[blacklist]]`},
		{"empty file", "[[blacklist]]\nfile=\"\"", "file: is empty"},
		{"bad expression", "[[blacklist]]\nurl='(a'", `"(a" is not an RE2 expression: missing closing )`},
		{"empty expression", "[[blacklist]]\nurl=''", "matches everything"},
		{"bad include", "[[quality]]\ndomain=\"a.com\"\nseeds=[\"https://a.com/\"]\ninclude=['[', 'x', '(?=y)']",
			"missing closing ]"},
		{"page type of nothing", "[[page-type]]\nname=\"x\"", "needs domain, path or both"},
		{"page type without name", "[[page-type]]\npath='x'", "name is missing"},
		{"other group", "[[page-type]]\nname=\"x\"\npath='(?P<grp>x)'", `has a group named "grp"`},
		{"page type", "[[page-type]]\nname=\"x\"\npath='(?P<group>x)(y)'", ""},
		{"entity", "[[entity]]\ndomain=\"a.com\"\nby=\"path-0\"", `is not one of "path-1" to "path-20", "host", "site"`},
		{"entity without rule", "[[entity]]\ndomain=\"a.com\"", "by is missing"},
		{"entity of two hosts", "[[entity]]\ndomain=\"a.com\"\nby=\"host\"\nwith=[\"b.com\"]", ""},
		{"entity of two paths", "[[entity]]\ndomain=\"a.com\"\nby=\"path-1\"\nwith=[\"b.com\"]", `set by = "host"`},
		{"selector", "[[extract]]\nname=\"x\"\nselector='a['", "is not a CSS selector"},
		{"no selector", "[[extract]]\nname=\"x\"", "selector is missing"},
		{"extract", "[[extract]]\nname=\"x\"\nselector='a:not(.b) > c'", ""},
		{"inline entries", "extract = []", "unknown key \"extract\" in [[quality]]"},
		{"one table", "[stub]\ndomain=\"a.com\"", "stub: want tables under [[stub]], not a table"},
		{"array of a table", "[[crawler]]\nmax-depth=1", "[crawler]: want one table, not an array"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := strings.Join(problems(t, minimal+tt.text), "\n")
			if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestEmptyNamesWhatIsRequired(t *testing.T) {
	got := problems(t, "")
	want := []string{": [user-agent] crawler-name is missing",
		": no [[quality]] entry: name at least one domain to crawl, with seeds"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestEveryProblemAtOnce(t *testing.T) {
	got := problems(t, `
max-depth = 3
[crawler]
max-dept = 3
max_pages = 7
timeout = "1s"
max-concurrent-pages-open = 0
[user-agent]
crawler-name = "My Crawler"
[crawlr]
x = 1
[[quality]]
domain = "example.com/"
seeds = ["https://example.com/", "nonsense"]
[[quality]]
domain = "b.com"
seeds = [
  "https://b.com/", # fine
  "https://c.com/",
]
exclude = ['(']
speed = 3
`)
	want := []string{
		`:2: unknown key "max-depth" outside any table: it belongs to [crawler]`,
		`:4: unknown key "max-dept" in [crawler]: did you mean "max-depth"?`,
		`:5: unknown key "max_pages" in [crawler]: did you mean "max-pages"?`,
		`:6: unknown key "timeout" in [crawler]: it belongs to [retry]`,
		`:7: [crawler] max-concurrent-pages-open: 0 is not between 1 and 100`,
		`:9: [user-agent] crawler-name: "My Crawler" must be letters, digits and hyphens, at least one`,
		`:10: unknown table [crawlr]: did you mean [crawler]?`,
		`:13: [[quality]] domain: "example.com/" is a URL, not a host name: write "example.com"`,
		`:14: [[quality]] seeds: "nonsense" is not a URL: one begins with https://`,
		`:17: [[quality]] seeds: "https://c.com/" does not belong to "b.com": give its domain an entry of its own, ` +
			`or write a "*." pattern that covers it`,
		`:21: [[quality]] exclude: "(" is not an RE2 expression: missing closing )`,
		`:22: unknown key "speed" in [[quality]]: the nearest known is "seeds" of "domain", ` +
			`"seeds", "sitemaps", "max-requests", "include", "exclude"`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestNotices(t *testing.T) {
	_, notices, err := parseText(strings.Replace(minimal, `contact-url = "https://example.com/about"`, "", 1) +
		"exclude = ['^/$']\n[[stub]]\ndomain = \"*.www.x.org\"\n")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"config.toml:9: \"*.www.x.org\" means \"*.x.org\"",
		"config.toml:1: neither contact-url nor contact-email",
		`config.toml:6: seed "https://example.com/" will not be visited: exclude "^/$"`}
	if len(notices) != len(want) {
		t.Fatalf("notices %q", notices)
	}
	for i, n := range notices {
		if !strings.Contains(string(n), want[i]) {
			t.Errorf("notice %q, want %q", n, want[i])
		}
	}
}

func TestUserAgentString(t *testing.T) {
	const url, email = "https://example.com/about-our-crawler", "crawler-admin@example.com"
	tests := []struct{ url, email, want string }{
		{url, email, "SumiRipple/1.0 (+https://example.com/about-our-crawler; crawler-admin@example.com)"},
		{url, "", "SumiRipple/1.0 (+https://example.com/about-our-crawler)"},
		{"", email, "SumiRipple/1.0 (crawler-admin@example.com)"},
		{"", "", "SumiRipple/1.0"},
	}
	for _, tt := range tests {
		c := Config{UserAgent: UserAgent{"SumiRipple", "1.0", tt.url, tt.email, ""}}
		if got := c.UserAgentString(); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

func TestURLIdentity(t *testing.T) {
	text := func(url string) string { return mustParse(t, "[url]\n"+url+"\n"+minimal).URLIdentity() }
	if a, b := text(`strip-params = ["a", "b", "a"]`), text(`strip-params = ["b", "a"]`); a != b {
		t.Errorf("order and repetition make another identity: %s, %s", a, b)
	}
	if a, b := text("max-length = 100"), text("max-length = 101"); a == b {
		t.Errorf("another length has the same identity %s", a)
	}
}

func TestHash(t *testing.T) {
	base := mustParse(t, minimal).Hash()
	same := []string{"# a comment\n" + minimal, strings.ReplaceAll(minimal, " = ", "="),
		"crawler.max-depth = 3\nretry.delay = \"5000ms\"\n" + minimal}
	for _, text := range same {
		if mustParse(t, text).Hash() != base {
			t.Errorf("the hash differs for\n%s", text)
		}
	}
	for _, text := range []string{"crawler.max-depth = 4\n" + minimal, minimal + "exclude = ['x']\n",
		minimal + "[[stub]]\npreset = \"ads\"\n"} {
		if mustParse(t, text).Hash() == base {
			t.Errorf("the hash is the same for\n%s", text)
		}
	}
}

func TestSameElsewhere(t *testing.T) {
	in := func(dir, text string) *Config {
		c, _, err := Parse([]byte(text+minimal), dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	here := in("/here", "")
	for _, tt := range []struct {
		there *Config
		same  bool
	}{
		{here, true},
		{in("/there", ""), true},
		{in("/there", "crawler.max-depth = 4\n"), false},
		{in("/there", "output.map-path = \"map.html\"\n"), false},
		{in("/there", "network.connect-to = {\"*.b.test\" = \"127.0.0.1:1\"}\n"), false},
	} {
		if got := tt.there.SameElsewhere(here); got != tt.same {
			t.Errorf("SameElsewhere = %v, want %v, of\n%s", got, tt.same, tt.there.Effective())
		}
	}
	mapped := in("/here", "output.map-path = \"a.html\"\nmonitor.report-path = \"/srv/report.json\"\n")
	for text, same := range map[string]bool{"a.html": true, "b.html": false, "/here/a.html": false} {
		text = "output.map-path = \"" + text + "\"\nmonitor.report-path = \"/srv/report.json\"\n"
		if got := in("/there/too", text).SameElsewhere(mapped); got != same {
			t.Errorf("SameElsewhere = %v, want %v, of %s", got, same, text)
		}
	}
	if in("/here", "output.map-path = \"b.html\"\nmonitor.report-path = \"/srv/report.json\"\n").SameElsewhere(mapped) {
		t.Error("another name in the same folder is no change")
	}
}

func TestEffective(t *testing.T) {
	c, _, err := Load("testdata/full.toml")
	if err != nil {
		t.Fatal(err)
	}
	stored := c.Effective()
	for _, want := range []string{"\nads.example.net\n*.wild.example\n", "\n*.doubleclick.net\n", "names = '''"} {
		if !strings.Contains(string(stored), want) {
			t.Errorf("%q is not in the effective text", want)
		}
	}
	again, err := ParseEffective(stored)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(stored), string(again.Effective())); diff != "" || again.Hash() != c.Hash() {
		t.Error(diff)
	}
	if got, want := again.Scope().Classify("https://ads.example.net/"),
		c.Scope().Classify("https://ads.example.net/"); got != want {
		t.Errorf("stored %v, loaded %v", got, want)
	}
	if _, err := ParseEffective(append(stored, "[new]\n"...)); err == nil {
		t.Error("an unknown table is accepted")
	}
}

func TestProxyPasswordIsNotStored(t *testing.T) {
	c := mustParse(t, "network.proxy = \"http://me:hunter2@proxy.example.com:3128\"\n"+minimal)
	if c.Network.Proxy != "http://me:hunter2@proxy.example.com:3128" {
		t.Errorf("proxy %q", c.Network.Proxy)
	}
	if text := string(c.Effective()); strings.Contains(text, "hunter2") ||
		!strings.Contains(text, "http://me@proxy.example.com:3128") {
		t.Errorf("effective text:\n%s", text)
	}
}

// Durations and sizes round-trip.
func TestUnits(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: `"0s"`, 24 * time.Hour: `"24h"`, 90 * time.Minute: `"1h30m"`, time.Hour + time.Second: `"1h0m1s"`,
		10 * time.Minute: `"10m"`, 100 * time.Millisecond: `"100ms"`, 10 * time.Second: `"10s"`,
	} {
		if got := tomlDuration(d); got != want {
			t.Errorf("%d ns are written %s, want %s", d, got, want)
		}
	}
	for n, want := range map[int64]string{1: `"1B"`, 1000: `"1KB"`, 10_000_000: `"10MB"`, 1 << 20: `"1MiB"`,
		1<<20 + 1: `"1048577B"`, 3 << 40: `"3TiB"`} {
		got := tomlSize(n)
		back, err := parseSize(strings.Trim(got, `"`))
		if got != want || err != nil || back != n {
			t.Errorf("%d bytes are written %s and read %d, %v; want %s", n, got, back, err, want)
		}
	}
}

func TestEditDistance(t *testing.T) {
	tests := []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"max-dept", "max-depth", 1}, {"kitten", "sitting", 3}, {"abc", "abc", 0}}
	for _, tt := range tests {
		if got, back := EditDistance(tt.a, tt.b), EditDistance(tt.b, tt.a); got != tt.want || back != tt.want {
			t.Errorf("distance of %q and %q: %d and %d, want %d", tt.a, tt.b, got, back, tt.want)
		}
	}
}

// A text that parses has an effective text that parses to the same configuration. Each problem is on a
// line of the text and is itself one line.
func FuzzParse(f *testing.F) {
	f.Add(minimal)
	full, err := os.ReadFile("testdata/full.toml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(full))
	f.Add(Sample())
	f.Add("crawler.max-depth=1\n" + minimal +
		"[[blacklist]]\nfile='h'\n[[stub]]\nurl='a\\.b'\n[[extract]]\nname='x'\nselector='a'\n")
	f.Add("[network]\nproxy=\"http://a:b@c\"\nconnect-to={'*.a.b:1'='[::1]:2'}\nallow-private=['::/0']\n" + minimal)
	f.Add("a=\"\"\"\n\\\"\"\"\"\nb='''x''''\n[[quality]]\n")
	read := func(string) ([]byte, error) { return []byte("a.com\n||b.com^\n"), nil }
	f.Fuzz(func(t *testing.T, text string) {
		c, _, err := Parse([]byte(text), "/etc", read)
		if err != nil {
			var errs *Errors
			if !errors.As(err, &errs) {
				t.Fatal(err)
			}
			checkProblems(t, text, errs)
			return
		}
		again, err := ParseEffective(c.Effective())
		if err != nil {
			t.Fatalf("%v in\n%s", err, c.Effective())
		}
		if diff := cmp.Diff(string(c.Effective()), string(again.Effective())); diff != "" || again.Hash() != c.Hash() {
			t.Error(diff)
		}
	})
}

func checkProblems(t *testing.T, text string, errs *Errors) {
	lines := strings.Count(text, "\n") + 2
	for _, p := range errs.List {
		if p.Line < 0 || p.Line > lines || p.Text == "" || strings.ContainsAny(p.Text, "\n\r\x00") {
			t.Errorf("problem %+v of a text of %d lines", p, lines)
		}
	}
	if !slices.IsSortedFunc(errs.List, func(a, b Problem) int { return a.Line - b.Line }) {
		t.Error("the problems are not in order")
	}
}

// The outline finds the line of every key in a plain text.
func TestOutline(t *testing.T) {
	text := "# c\na = 1\n\n[t] # [x]\n'k' = \"\"\"\n[no]\n\\\"\"\" \"\"\"\"\nm = [ # ]\n 'x', ]\n" +
		"[[q]]\nz=1\n[[q]]\nz = {b = '}'}\n"
	o, problem := scan([]byte(text), false)
	if problem != nil {
		t.Fatal(problem)
	}
	want := map[string]int{"a": 2, "t": 4, "t.k": 5, "t.m": 8, "q[0]": 10, "q[0].z": 11, "q[1]": 12, "q[1].z": 13}
	if diff := cmp.Diff(want, o.lines); diff != "" {
		t.Error(diff)
	}
	if got := o.at("q[1].z.deeper"); got != 13 {
		t.Errorf("line %d", got)
	}
}
