package robots_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/crawl/robots"
)

// The examples of RFC 9309, sections 5.1 and 5.2.
const (
	rfcSimple = `User-Agent: *
Disallow: *.gif$
Disallow: /example/
Allow: /publications/

User-Agent: foobot
Disallow:/
Allow:/example/page.html
Allow:/example/allowed.gif

User-Agent: barbot
User-Agent: bazbot
Disallow: /example/page.html

User-Agent: quxbot
`
	rfcLongest = `User-Agent: foobot
Allow: /example/page/
Disallow: /example/page/disallowed.gif
`
)

// A checkRow is a path to check for an agent, with a robots.txt.
type checkRow struct {
	name, body, agent, path string
	want                    robots.Verdict
}

// rfcRows are the examples of RFC 9309.
func rfcRows() []checkRow {
	// Section 2.2.1: two groups that name one token are one group.
	const merged = "user-agent: ExampleBot\ndisallow: /foo\ndisallow: /bar\n\nuser-agent: ExampleBot\ndisallow: /baz\n"
	return []checkRow{
		{"RFC 5.1 others", rfcSimple, "other", "/a.gif", no("Disallow: *.gif$", 2)},
		{"RFC 5.1 others, end", rfcSimple, "other", "/a.gif?b", yes("", 0)},
		{"RFC 5.1 others, folder", rfcSimple, "other", "/example/x", no("Disallow: /example/", 3)},
		{"RFC 5.1 others, allowed", rfcSimple, "other", "/publications/", yes("Allow: /publications/", 4)},
		{"RFC 5.1 foobot", rfcSimple, "foobot", "/example/x", no("Disallow:/", 7)},
		{"RFC 5.1 foobot, page", rfcSimple, "foobot", "/example/page.html", yes("Allow:/example/page.html", 8)},
		{"RFC 5.1 foobot, picture", rfcSimple, "FooBot/2.1", "/example/allowed.gif",
			yes("Allow:/example/allowed.gif", 9)},
		{"RFC 5.1 barbot", rfcSimple, "barbot", "/example/page.html", no("Disallow: /example/page.html", 13)},
		{"RFC 5.1 bazbot", rfcSimple, "bazbot", "/a.gif", yes("", 0)},
		{"RFC 5.1 quxbot", rfcSimple, "quxbot", "/example/", yes("", 0)},
		{"RFC 5.2 longest", rfcLongest, "foobot", "/example/page/disallowed.gif",
			no("Disallow: /example/page/disallowed.gif", 3)},
		{"RFC 5.2 shorter", rfcLongest, "foobot", "/example/page/x", yes("Allow: /example/page/", 2)},
		{"RFC 2.2.1 merged, first", merged, "examplebot", "/foo", no("disallow: /foo", 2)},
		{"RFC 2.2.1 merged, second", merged, "examplebot", "/baz", no("disallow: /baz", 6)},
		{"RFC 2.2.2 equal rules", group("Disallow: /a", "Allow: /a"), "r", "/a", yes("Allow: /a", 3)},
		{"RFC 2.2.2 itself", group("Disallow: /"), "r", "/robots.txt", yes("", 0)},
		{"RFC 2.2.2 no group", "User-agent: x\nDisallow: /", "r", "/", yes("", 0)},
		{"RFC 2.2.3 star", group("Disallow: /this/*/exactly"), "r", "/this/or/exactly",
			no("Disallow: /this/*/exactly", 2)},
		{"RFC 2.2.3 end", group("Allow: /this/path/exactly$", "Disallow: /"), "r", "/this/path/exactly",
			yes("Allow: /this/path/exactly$", 2)},
		{"RFC 2.2.3 encoded star", group("Disallow: /path/file-with-a-%2A.html"), "r", "/path/file-with-a-*.html",
			no("Disallow: /path/file-with-a-%2A.html", 2)},
		{"RFC 2.2.3 encoded star is no wildcard", group("Disallow: /path/file-with-a-%2A.html"), "r",
			"/path/file-with-a-b.html", yes("", 0)},
		{"RFC 2.2.3 encoded dollar", group("Disallow: /path/foo-%24"), "r", "/path/foo-$",
			no("Disallow: /path/foo-%24", 2)},
		{"RFC 2.2.3 encoded dollar is no end", group("Disallow: /path/foo-%24"), "r", "/path/foo-", yes("", 0)},
	}
}

// groupRows cover which lines apply to which agent.
func groupRows() []checkRow {
	return []checkRow{
		{"sitemap does not end a group", "User-agent: a\nSitemap: /s\nUser-agent: b\nDisallow: /", "a", "/",
			no("Disallow: /", 4)},
		{"crawl-delay does not end a group", "User-agent: a\nCrawl-delay: 1\nUser-agent: b\nDisallow: /", "a", "/",
			no("Disallow: /", 4)},
		{"unknown line does not end a group", "User-agent: a\nHost: x\n<br>\nUser-agent: b\nDisallow: /", "a", "/",
			no("Disallow: /", 5)},
		{"empty disallow ends a group", "User-agent: a\nDisallow:\nUser-agent: b\nDisallow: /", "a", "/", yes("", 0)},
		{"no rule ends a group", "User-agent: a\nDisallow: x\nUser-agent: b\nDisallow: /", "a", "/", yes("", 0)},
		{"rules before any agent", "Disallow: /\nUser-agent: *\nDisallow: /a", "r", "/", yes("", 0)},
		{"own group without rules", "User-agent: r\nCrawl-delay: 1\nAllow:\nUser-agent: *\nDisallow: /", "r", "/",
			yes("", 0)},
		{"token is compared whole", "User-agent: rip\nDisallow: /", "ripple", "/", yes("", 0)},
		{"token is compared whole, beyond a hyphen", "User-agent: rip\nDisallow: /", "rip-ple", "/", yes("", 0)},
		{"token is compared whole, beyond an underscore", "User-agent: rip_ple\nDisallow: /", "rip", "/", yes("", 0)},
		{"token ends at the first other byte", "User-agent: Ripple/2.0 beta\nDisallow: /", "ripple", "/",
			no("Disallow: /", 2)},
		{"token with digits", "User-agent: r2-d_2\nDisallow: /", "R2-D_2", "/", no("Disallow: /", 2)},
		{"star with a remark", "User-agent: * all of you\nDisallow: /", "r", "/", no("Disallow: /", 2)},
		{"star and letters is nobody", "User-agent: *r\nDisallow: /", "r", "/", yes("", 0)},
		{"an agent without a token", "User-agent: /\nDisallow: /", "/", "/", yes("", 0)},
	}
}

// spellingRows are files in various spellings.
func spellingRows() []checkRow {
	return []checkRow{
		{"blanks and comments", "\t User-agent :\tr # me\n disallow\t: /a # b\n", "r", "/a", no("disallow\t: /a", 2)},
		{"comment inside", group("Disallow: /a#b"), "r", "/abc", no("Disallow: /a", 2)},
		{"blanks inside", group("Disallow: /a b"), "r", "/a%20b", no("Disallow: /a b", 2)},
		{"lines ended by CR", "User-agent: r\r\rDisallow: /a\r", "r", "/a", no("Disallow: /a", 3)},
		{"lines ended by CRLF", "User-agent: r\r\n\r\nDisallow: /a", "r", "/a", no("Disallow: /a", 3)},
		{"lines ended by all", "User-agent: r\n\r\n\rDisallow: /a", "r", "/a", no("Disallow: /a", 4)},
		{"byte order mark", "\ufeffUser-agent: r\nDisallow: /a", "r", "/a", no("Disallow: /a", 2)},
		{"half a byte order mark", "\xef\xbbUser-agent: r\nDisallow: /a", "r", "/a", no("Disallow: /a", 2)},
		{"UTF-16, low byte first", encode16("User-agent: r\nDisallow: /ä\n", false), "r", "/%C3%A4",
			no("Disallow: /ä", 2)},
		{"UTF-16, high byte first", encode16("User-agent: r\nDisallow: /a\n", true), "r", "/a", no("Disallow: /a", 2)},
		{"a page of HTML", "<!doctype html><html>\n<body>User-agent: *\nDisallow: /\n", "r", "/", yes("", 0)},
	}
}

// unseenRows are files with characters that an editor does not display.
func unseenRows() []checkRow {
	row := func(name, body, path, rule string, line int) checkRow {
		return checkRow{name, body, "r", path, no(rule, line)}
	}
	rows := []checkRow{
		row("byte order mark encoded twice", "\u00ef\u00bb\u00bfUser-agent: r\nDisallow: /a", "/a", "Disallow: /a", 2),
		row("UTF-16 without a mark", encode16("User-agent: r\nDisallow: /a\n", false)[2:], "/a", "Disallow: /a", 2),
		row("UTF-16 without a mark, high byte first", encode16("User-agent: r\nDisallow: /a\n", true)[2:], "/a",
			"Disallow: /a", 2),
		row("line separator", "User-agent: *\u2028Disallow: /a", "/a", "Disallow: /a", 2),
		row("paragraph separator", "User-agent: *\u2029Disallow: /a", "/a", "Disallow: /a", 2),
		row("next line", "User-agent: *\u0085Disallow: /a", "/a", "Disallow: /a", 2),
		row("form feed", "User-agent: *\fDisallow: /a", "/a", "Disallow: /a", 2),
		row("a path as it is written", "User-agent: *\nDisallow: /a\u200bb", "/a%E2%80%8Bb", "Disallow: /a\u200bb", 2),
		row("no-break space of Latin 1 behind", "User-agent: *\xa0\nDisallow: /a\xa0", "/a", "Disallow: /a\xa0", 2),
		{"Latin 1 at the end of a path", "User-agent: *\nDisallow: /caf\xe9", "r", "/cafeteria", yes("", 0)},
		{"a visible blank within a key", "User-agent: r\nDis\u00a0allow: /a", "r", "/a", yes("", 0)},
	}
	for _, c := range []string{"\ufeff", "\ufeff\ufeff", "\u200b", "\u200e", "\u2060", "\u00ad", "\u00a0", "\u3000", "\u2800",
		"\ufe0f", "\u034f", "\x00", "\x1b", "\x7f", "\u0080", "\u202f"} {
		key := "Disallow"
		if strings.TrimSpace(c) == c && c != "\u2800" {
			key = "Dis" + c + "allow"
		}
		line := key + c + ":" + c + "/a" + c
		body := c + "User-agent" + c + ":" + c + "*" + c + "\n" + c + line
		rows = append(rows, row(fmt.Sprintf("%q everywhere", c), body, "/a", c+line, 2),
			row(fmt.Sprintf("%q about a name", c), "User-agent: *\nAllow: /\nUser-agent: "+c+"r"+c+"\nDisallow: /a", "/a",
				"Disallow: /a", 4))
	}
	return rows
}

// pathRows match rules against paths.
func pathRows() []checkRow {
	return []checkRow{
		{"empty path", group("Disallow: /$"), "r", "", no("Disallow: /$", 2)},
		{"query without path", group("Disallow: /?a"), "r", "?a=b", no("Disallow: /?a", 2)},
		{"fragment", group("Disallow: /a$"), "r", "/a#b", no("Disallow: /a$", 2)},
		{"robots.txt with a query", group("Disallow: /"), "r", "/robots.txt?a", yes("", 0)},
		{"not quite robots.txt", group("Disallow: /"), "r", "/robots.txtx", no("Disallow: /", 2)},
		{"case counts", group("Disallow: /A"), "r", "/a", yes("", 0)},
		{"dollar in the middle", group("Disallow: /a$b"), "r", "/a$bc", no("Disallow: /a$b", 2)},
		{"two dollars", group("Disallow: /a$$"), "r", "/a$", no("Disallow: /a$$", 2)},
		{"stars weigh", group("Allow: /a", "Disallow: /a*"), "r", "/ab", no("Disallow: /a*", 3)},
		{"more behind the end", group("Disallow: /a$"), "r", "/ab", yes("", 0)},
		{"more behind what follows a star", group("Disallow: /a*b"), "r", "/axbx", no("Disallow: /a*b", 2)},
		{"more before what a star follows", group("Disallow: /a*b"), "r", "/x/a/b", yes("", 0)},
		{"what follows a star twice", group("Disallow: /*b*c$"), "r", "/abxc", no("Disallow: /*b*c$", 2)},
		{"more behind the end after two stars", group("Disallow: /*b*c$"), "r", "/abxcx", yes("", 0)},
		{"star and end", group("Disallow: /a*$"), "r", "/abc", no("Disallow: /a*$", 2)},
		{"many stars", group("Disallow: /a***b**c"), "r", "/axbc", no("Disallow: /a***b**c", 2)},
		{"end after a star overlaps nothing", group("Disallow: /a*aa$"), "r", "/aa", yes("", 0)},
		{"last of many", group("Disallow: /*b$"), "r", "/abcb", no("Disallow: /*b$", 2)},
		{"the first of twins", group("Disallow: /a", "Disallow: /a", "Disallow: /%61"), "r", "/a",
			no("Disallow: /a", 2)},
	}
}

func TestCheck(t *testing.T) {
	for _, tt := range slices.Concat(rfcRows(), groupRows(), spellingRows(), unseenRows(), pathRows()) {
		t.Run(tt.name, func(t *testing.T) {
			got := robots.Parse([]byte(tt.body), tt.agent).Check(tt.path)
			if got != tt.want {
				t.Errorf("Check(%q) = %+v; want %+v", tt.path, got, tt.want)
			}
		})
	}
}

// TestSpelling uses every pair of a row as rule and as path: all spellings in a row are equivalent, and none
// matches one of another row.
func TestSpelling(t *testing.T) {
	rows := [][]string{
		{"/foo/bar?baz=quz"}, // from here the table of RFC 9309, section 2.2.2
		{"/foo/bar?baz=https://foo.bar", "/foo/bar?baz=https%3A%2F%2Ffoo.bar", "/foo/bar?baz=https%3a//foo.bar"},
		{"/foo/bar/ツ", "/foo/bar/%E3%83%84", "/foo/bar/%e3%83%84"},
		{"/foo/bar/%62%61%7A", "/foo/bar/baz"}, // to here
		{"/a<d", "/a%3cd", "/a%3Cd"},
		{"/%2Fb", "/%2fb"},
		{"//b"},
		{"/x%26y"},
		{"/x&y"},
		{"/[", "/%5B", "/%5b"},
		{"/~(@:", "/%7E%28%40%3a"},
		{"/100%", "/100%25"},
		{"/%zz", "/%25zz"},
		{"/?q=%3F", "/?q=?"},
		{"/%3Fq"},
	}
	for i, row := range rows {
		for _, rule := range row {
			r := robots.Parse([]byte(group("Disallow: "+rule+"$")), "r")
			for j, other := range rows {
				for _, path := range other {
					if got := r.Check(path); got.Allowed != (i != j) {
						t.Errorf("rule %q, path %q: %+v", rule, path, got)
					}
				}
			}
		}
	}
}

// After a wildcard it is open whether an encoded slash belongs to the path or the query.
func TestSpellingAfterWildcard(t *testing.T) {
	for _, rule := range []string{"/*a%2Fb", "/*?q=a%2Fb", "/*?q=a/b", "/*a/b", "/*q=a/*b"} {
		if got := robots.Parse([]byte(group("Disallow: "+rule)), "r").Check("/x?q=a%2fb"); got.Allowed {
			t.Errorf("rule %q does not match", rule)
		}
	}
}

func TestCrawlDelay(t *testing.T) {
	tests := []struct {
		lines string
		want  time.Duration
		ok    bool
	}{
		{"Crawl-delay: 10", 10 * time.Second, true},
		{"crawl-delay : 0.25", 250 * time.Millisecond, true},
		{"Crawl-delay: .5", 500 * time.Millisecond, true},
		{"Crawl-delay: 0", 0, true},
		{"Crawl-delay: 5 seconds", 5 * time.Second, true},
		{"\u00a0Crawl-delay:\u00a05\u00a0", 5 * time.Second, true},
		{"Crawl-delay:\xa05\xa0seconds", 5 * time.Second, true},
		{"Crawl-delay: 10s", 10 * time.Second, true},
		{"Crawl-delay: 1e2", 100 * time.Second, true},
		{"Crawl-delay: 1e999", 365 * 24 * time.Hour, true},
		{"Crawl-delay: 99999999999999999999", 365 * 24 * time.Hour, true},
		{"Crawl-delay: NaN", 0, false},
		{"Crawl-delay: Inf", 0, false},
		{"Crawl-delay: -1", 0, false},
		{"Crawl-delay: .", 0, false},
		{"Crawl-delay: .s", 0, false},
		{"Crawl-delay:", 0, false},
		{"Crawl-delay: soon\nCrawl-delay: 2\nCrawl-delay: 3", 3 * time.Second, true},
		{"Crawl-delay: 3\nCrawl-delay: 2\nCrawl-delay: soon", 3 * time.Second, true},
		{"Crawl-delay: 2\nDisallow: /\n\nUser-agent: r\nCrawl-delay: 7\n\nUser-agent: r\nCrawl-delay: 0",
			7 * time.Second, true},
		{"Crawl-delay: 2\nDisallow: /\n\nUser-agent: *\nCrawl-delay: 7", 2 * time.Second, true},
		{"Disallow: /\nCrawl-delay: 4", 4 * time.Second, true},
		{"User-agent: x\nCrawl-delay: 4", 4 * time.Second, true},
		{"Disallow:\nUser-agent: x\nCrawl-delay: 4", 0, false},
		{"Disallow:\nUser-agent: *\nCrawl-delay: 4", 0, false},
	}
	for _, tt := range tests {
		got, ok := robots.Parse([]byte(group(tt.lines)), "r").CrawlDelay()
		if got != tt.want || ok != tt.ok {
			t.Errorf("%q: %v, %v; want %v, %v", tt.lines, got, ok, tt.want, tt.ok)
		}
	}
}

// Files that slow one robot and continue with "*" do not slow all robots.
func TestCrawlDelayIsOfAgentsAbove(t *testing.T) {
	body := []byte("Crawl-delay: 9\nUser-agent: slurp\nCrawl-delay: 5\n\nUser-agent: *\nDisallow: /a\n")
	if d, ok := robots.Parse(body, "ripple").CrawlDelay(); ok {
		t.Errorf("ripple waits %v", d)
	}
	slurp := robots.Parse(body, "slurp")
	if d, _ := slurp.CrawlDelay(); d != 5*time.Second || slurp.Check("/a").Allowed {
		t.Errorf("slurp waits %v, %+v", d, slurp.Check("/a"))
	}
}

func TestSitemaps(t *testing.T) {
	body := "Sitemap: https://a/1.xml # first\nUser-agent: x\nsitemap:/2.xml\nSiteMap : https://a/1.xml\n" +
		"Site-map: /3.xml\nSitemap:\nSitemap: /" + strings.Repeat("x", 3000)
	want := []string{"https://a/1.xml", "/2.xml", "/3.xml"}
	if diff := cmp.Diff(want, robots.Parse([]byte(body), "r").Sitemaps()); diff != "" {
		t.Error(diff)
	}
	unseen := "Sitemap:\u00a0https://a/1.xml\u00a0\n\u00a0Sitemap\u00a0: /2.xml\n" +
		"Sitemap:\xa0/3.xml\n\u200bSitemap: \ufeff/4.xml\nSitemap:\u00a0\n"
	want = []string{"https://a/1.xml", "/2.xml", "/3.xml", "/4.xml"}
	if diff := cmp.Diff(want, robots.Parse([]byte(unseen), "r").Sitemaps()); diff != "" {
		t.Error(diff)
	}
	var many strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&many, "Sitemap: /%d.xml\n", i)
	}
	if n := len(robots.Parse([]byte(many.String()), "r").Sitemaps()); n != 5000 { // a parser that reads fewer must count the rest
		t.Errorf("%d sitemaps of 5,000 kept", n)
	}
}

func TestAgent(t *testing.T) {
	tests := []struct{ body, agent, want string }{
		{"User-agent: RIPPLE\nUser-agent: *\n", "Ripple/1.0 (+https://example.com)", "Ripple"},
		{"User-agent: *\n", "Ripple", "*"},
		{"User-agent: x\n", "Ripple", ""},
		{"", "", ""},
	}
	for _, tt := range tests {
		if got := robots.Parse([]byte(tt.body), tt.agent).Agent(); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.body, got, tt.want)
		}
	}
}

func TestFixedRules(t *testing.T) {
	var zero robots.Rules
	for _, path := range []string{"", "/", "/a?b", "/robots.txt"} {
		if all := robots.AllowAll().Check(path); !all.Allowed || !zero.Check(path).Allowed ||
			!robots.Parse(nil, "r").Check(path).Allowed {
			t.Errorf("%q: %+v", path, all)
		}
	}
}

// A verdict contains the line as written, cut: code that displays it must sanitise it.
func TestRuleIsCut(t *testing.T) {
	body := group("Disallow: /\u200c\u202eä" + strings.Repeat("x", 500))
	got := robots.Parse([]byte(body), "r").Check("/%e2%80%8c%e2%80%ae%c3%a4" + strings.Repeat("x", 501))
	if got.Allowed || len(got.Rule) != 256 || !strings.HasPrefix(got.Rule, "Disallow: /\u200c\u202eäxxx") {
		t.Errorf("%+v", got)
	}
}

func TestCut(t *testing.T) {
	head := group("Disallow: /a") + "\n"
	long := "Disallow: /" + strings.Repeat("b", robots.MaxBytes)
	tests := []struct {
		name, body string
		closed     bool
	}{
		{"rules before one endless line", head + long, true},
		{"nothing but one endless line", "User-agent: r " + long, false},
		{"half a rule is none", head + "#" + strings.Repeat("x", robots.MaxBytes-len(head)-13) + "\nDisallow: /azzz",
			true},
		{"rules beyond the limit", "#" + strings.Repeat("x", robots.MaxBytes) + "\n" + head, false},
	}
	for _, tt := range tests {
		r := robots.Parse([]byte(tt.body), "r")
		if got := r.Check("/a"); got.Allowed == tt.closed || !r.Check("/").Allowed {
			t.Errorf("%s: %+v, %+v", tt.name, got, r.Check("/"))
		}
	}
}

// Parse must not retain the body, which the caller may reuse.
func TestBodyIsNotKept(t *testing.T) {
	body := []byte("Sitemap: /s\nUser-agent: r\nDisallow: /a\n")
	r := robots.Parse(body, "r")
	copy(body, bytes.Repeat([]byte("x"), len(body)))
	if r.Check("/a").Allowed || r.Sitemaps()[0] != "/s" {
		t.Error("the rules changed with the body")
	}
}

// group returns a file of one group for agent r.
func group(lines ...string) string { return "User-agent: r\n" + strings.Join(lines, "\n") }

func yes(rule string, line int) robots.Verdict {
	return robots.Verdict{Allowed: true, Rule: rule, Line: line}
}

func no(rule string, line int) robots.Verdict { return robots.Verdict{Rule: rule, Line: line} }

func encode16(s string, bigEndian bool) string {
	var b bytes.Buffer
	for _, u := range append([]uint16{0xfeff}, utf16.Encode([]rune(s))...) {
		if bigEndian {
			u = u<<8 | u>>8
		}
		b.WriteByte(byte(u))
		b.WriteByte(byte(u >> 8))
	}
	return b.String()
}
