package robots_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/temoto/robotstxt"

	"github.com/sumi-ripple/ripple/crawl/robots"
)

// A difference is a class of files about which temoto/robotstxt, the second opinion, and this package
// disagree, with the reason.
type difference struct {
	name   string
	why    string
	insert []string // lines that introduce the difference into a file without it
	body   string   // an example for which the two disagree about alpha
	path   string
	ours   bool
	fails  bool // the library rejects the file
}

func differences() []difference {
	const u = "User-agent: alpha\n"
	return []difference{
		{name: "equal rules", why: "Allow wins, there the first does (2.2.2)",
			insert: []string{"Disallow: /ab", "Allow: /ab"},
			body:   u + "Disallow: /a\nAllow: /a\n", path: "/a", ours: true},
		{name: "wildcards begin at the start", why: "there the expression may match anywhere",
			insert: []string{"Disallow: /b*a"},
			body:   u + "Disallow: /b*c\n", path: "/a/b/c", ours: true},
		{name: "wildcards weigh what they are",
			why:    "there the length of a regular expression counts, escapes included",
			insert: []string{"Allow: /*.a", "Disallow: /b*"},
			body:   u + "Disallow: /a.b*.c\nAllow: /a.bb.cc\n", path: "/a.bb.cc", ours: true},
		{name: "a final star weighs", why: "there it is dropped",
			insert: []string{"Disallow: /a**"},
			body:   u + "Allow: /a/\nDisallow: /a***\n", path: "/a/"},
		{name: "dollar inside", why: "only the last is an end, there each is",
			insert: []string{"Disallow: /a$b"},
			body:   u + "Disallow: /a$b\n", path: "/a$b"},
		{name: "token compared whole", why: "there a group's name is a prefix of the agent (2.2.1)",
			insert: []string{"User-agent: al", "Disallow: /a"},
			body:   "User-agent: al\nDisallow: /\n", path: "/a", ours: true},
		{name: "token ends early", why: "there the value is taken whole, version and all",
			insert: []string{"User-agent: alpha/1.0", "Disallow: /a"},
			body:   "User-agent: alpha/1.0\nDisallow: /\n", path: "/a"},
		{name: "crawl-delay inside a group", why: "it ends the list of agents there",
			insert: []string{"User-agent: alpha", "Crawl-delay: 1", "User-agent: beta", "Disallow: /a"},
			body:   u + "Crawl-delay: 1\nUser-agent: beta\nDisallow: /\n", path: "/a"},
		{name: "a group without rules", why: "it is a group: the star's rules are not for it; there it does not exist",
			insert: []string{"\x00last", "User-agent: omega"},
			body:   "User-agent: *\nDisallow: /\n" + u, path: "/a", ours: true},
		{name: "no path", why: "no rule; there a slash is put before it",
			insert: []string{"Disallow: a"},
			body:   u + "Disallow: a\n", path: "/a", ours: true},
		{name: "percent-encoding", why: "one spelling for both sides (2.2.2); there the bytes are compared",
			insert: []string{"Disallow: /%61"},
			body:   u + "Disallow: /%61\n", path: "/a"},
		{name: "comment inside a value", why: "it ends the value; there only a # after a blank does",
			insert: []string{"Disallow: /a#b"},
			body:   u + "Disallow: /a#b\n", path: "/a"},
		{name: "blank inside a value", why: "part of the value; there the value ends and the rest is a key",
			insert: []string{"Disallow: /a b"},
			body:   u + "Disallow: /a b\n", path: "/a", ours: true},
		{name: "no colon", why: "no line of the format; there a blank will do",
			insert: []string{"Disallow /a"},
			body:   u + "Disallow /a\n", path: "/a", ours: true},
		{name: "blank before the colon", why: "allowed (2.2); there the colon becomes the value",
			insert: []string{"Disallow : /a"},
			body:   u + "Disallow : /a\n", path: "/a"},
		{name: "misspelt key", why: "an unknown line; there useragent and crawldelay are known",
			insert: []string{"Useragent: alpha", "Disallow: /a"},
			body:   "Useragent: alpha\nDisallow: /a\n", path: "/a", ours: true},
		{name: "robots.txt itself", why: "always allowed (2.2.2)",
			insert: []string{"Disallow: /r"},
			body:   u + "Disallow: /\n", path: "/robots.txt", ours: true},
		{name: "rules before any agent", why: "dropped (2.2.1); there the whole file is",
			insert: []string{"\x00first", "Disallow: /a"},
			body:   "Disallow: /\n" + u + "Disallow: /a\n", path: "/a", fails: true},
		{name: "odd crawl-delay", why: "ignored; there the whole file is",
			insert: []string{"Crawl-delay: soon"},
			body:   u + "Crawl-delay: soon\nDisallow: /a\n", path: "/a", fails: true},
		{name: "half a byte order mark", why: "skipped; there it is part of the first key",
			insert: []string{"\x00first", "\xef\xbbUser-agent: alpha", "Disallow: /a"},
			body:   "\xef\xbbUser-agent: alpha\nDisallow: /a\n", path: "/a", fails: true},
	}
}

// TestDifferences demonstrates each class, so that none stays listed without need.
func TestDifferences(t *testing.T) {
	for _, d := range differences() {
		t.Run(d.name, func(t *testing.T) {
			if got := robots.Parse([]byte(d.body), "alpha").Check(d.path); got.Allowed != d.ours {
				t.Errorf("%+v; want allowed %v: %s", got, d.ours, d.why)
			}
			theirs, err := robotstxt.FromString(d.body)
			if (err != nil) != d.fails {
				t.Errorf("the library says %v", err)
			}
			if err == nil && theirs.TestAgent(d.path, "alpha") == d.ours {
				t.Errorf("the library agrees: this difference is none")
			}
		})
	}
}

// TestDifferential compares both on generated files. If a file contains none of the listed differences, they
// must agree; if it contains one, only that can be the cause.
func TestDifferential(t *testing.T) {
	random := rand.New(rand.NewPCG(9309, 1))
	all := append([]difference{{name: "none"}}, differences()...)
	for _, d := range all {
		asked, differ := 0, 0
		for range 300 {
			body := generate(random, d.insert)
			theirs, err := robotstxt.FromString(body)
			if err != nil {
				if !d.fails {
					t.Fatalf("%s: %v\n%s", d.name, err, body)
				}
				continue
			}
			for _, agent := range []string{"alpha", "beta", "omega"} {
				ours := robots.Parse([]byte(body), agent)
				for _, path := range paths() {
					asked++
					got := ours.Check(path)
					if got.Allowed == theirs.TestAgent(path, agent) {
						continue
					}
					if differ++; d.name == "none" {
						t.Fatalf("%s asks for %s: %+v, the library disagrees\n%s", agent, path, got, body)
					}
				}
			}
		}
		t.Logf("%-32s %6d of %6d questions", d.name, differ, asked)
	}
}

func paths() []string {
	all := []string{"/"}
	for _, a := range []string{"a", "b", "ab", "ba", "c"} {
		all = append(all, "/"+a, "/"+a+"/", "/"+a+"/a", "/"+a+"/ab/b", "/"+a+"?a=/b")
	}
	return all
}

// generate writes a file that both read alike, and lines to insert somewhere in it, or first or last if they
// begin with a mark. A path has the same verdict everywhere, so that no two rules are equal.
func generate(random *rand.Rand, insert []string) string {
	var lines []string
	rule := func() string {
		path := paths()[random.IntN(26)]
		return fmt.Sprintf("%s: %s", []string{"Allow", "Disallow"}[strings.Count(path, "a")%2], path)
	}
	for range 1 + random.IntN(4) {
		for range 1 + random.IntN(2) {
			lines = append(lines, "User-agent: "+[]string{"alpha", "beta", "gamma", "*"}[random.IntN(4)])
		}
		for range 1 + random.IntN(5) {
			lines = append(lines, rule())
		}
		lines = append(lines, []string{"", "# comment", "Sitemap: https://a.example/s.xml",
			"Host: a.example"}[random.IntN(4)])
	}
	at := 1 + random.IntN(len(lines))
	switch {
	case len(insert) > 0 && insert[0] == "\x00first":
		at, insert = 0, insert[1:]
	case len(insert) > 0 && insert[0] == "\x00last":
		at, insert = len(lines), insert[1:]
	}
	return strings.Join(slices.Insert(lines, at, insert...), "\n") + "\n"
}
