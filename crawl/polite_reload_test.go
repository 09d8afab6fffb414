package crawl

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/fetch"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// A ringConfig is a configuration of the web of [serveRing].
type ringConfig struct {
	depth   int
	origins []string // with one seed each
	more    string
}

func (c ringConfig) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "[crawler]\nmax-depth = %d\nsitemaps = \"quality\"\n", c.depth)
	for _, o := range c.origins {
		fmt.Fprintf(&b, "[[quality]]\ndomain = %q\nseeds = [\"https://%s/\"]\n", o, o)
	}
	return crawltest.Paper(b.String() + c.more)
}

// serveRing serves hosts h0 to h7, each of which links to the next; every host has a sitemap with
// an orphan that links two hosts ahead.
func serveRing(s *paperServers) {
	s.other = func(q question) reply {
		var n int
		if _, err := fmt.Sscanf(q.host, "h%d.test", &n); err != nil {
			return reply{status: http.StatusNotFound}
		}
		next, after := fmt.Sprintf("https://h%d.test", (n+1)%8), fmt.Sprintf("https://h%d.test", (n+2)%8)
		switch q.path {
		case "/robots.txt":
			return reply{status: http.StatusNotFound}
		case "/sitemap.xml":
			return reply{status: 200, body: urlset("https://" + q.host + "/orphan")}
		case "/":
			return links("/1", "/2", "/deep/a", next+"/", next+"/1")
		case "/1":
			return links("/", "/3", next+"/2")
		case "/2":
			return links(after+"/3", "/moved")
		case "/moved":
			return redirect(next + "/landing")
		case "/orphan":
			return links(after+"/orphan2", "/4")
		case "/deep/a":
			return links("/deep/b")
		}
		if q.path == "/3" && q.n == 0 && n == 1 {
			return reply{cause: fetch.Reset}
		}
		return links("/")
	}
}

// A surveyed page is what a map says about it.
type surveyed struct {
	state   string
	depth   uint8
	visited bool
}

func (s *paperServers) survey() map[string]surveyed {
	s.t.Helper()
	all := map[string]surveyed{}
	crawltest.EachPage(s.t, s.path, func(p *survey.Page) {
		all[strings.TrimPrefix(p.URL, "https://")] = surveyed{p.State.String(), p.Depth, p.Visited}
	})
	return all
}

// TestChangedConfiguration resumes under another configuration at several moments, and compares
// with a fresh crawl under that one: depths are the same, and so are states, except for pages that
// were visited before.
func TestChangedConfiguration(t *testing.T) {
	t.Parallel()
	h0, h1, h4 := "h0.test", "h1.test", "h4.test"
	for _, tt := range []struct {
		name          string
		before, after ringConfig
	}{
		{"nothing", ringConfig{2, []string{h0}, ""}, ringConfig{2, []string{h0}, ""}},
		{"a host is blacklisted", ringConfig{3, []string{h0}, ""},
			ringConfig{3, []string{h0}, "[[blacklist]]\ndomain = \"*.h1.test\"\n"}},
		{"and no longer", ringConfig{3, []string{h0}, "[[blacklist]]\ndomain = \"*.h1.test\"\n"},
			ringConfig{3, []string{h0}, ""}},
		{"URLs become stubs", ringConfig{3, []string{h0}, ""},
			ringConfig{3, []string{h0}, "[[stub]]\nurl = '/[23]$'\n"}},
		{"a larger depth", ringConfig{0, []string{h0}, ""}, ringConfig{3, []string{h0}, ""}},
		{"a smaller depth", ringConfig{4, []string{h0}, ""}, ringConfig{1, []string{h0}, ""}},
		{"an origin goes", ringConfig{1, []string{h0, h4}, ""}, ringConfig{1, []string{h0}, ""}},
		{"an origin comes", ringConfig{1, []string{h0}, ""}, ringConfig{1, []string{h0, h4}, ""}},
		{"a visited host becomes an origin", ringConfig{2, []string{h0}, ""}, ringConfig{2, []string{h0, h1}, ""}},
		{"one for the other", ringConfig{1, []string{h0}, ""}, ringConfig{1, []string{h4}, ""}},
		{"an exclude", ringConfig{2, []string{h0}, ""}, ringConfig{2, []string{h0}, "exclude = [\"^/deep/\"]\n"}},
		{"a trap", ringConfig{2, []string{h0}, ""},
			ringConfig{2, []string{h0}, "[traps]\nmax-repeated-segments = 1\n"}},
	} {
		for _, at := range []time.Duration{1, 1500 * time.Millisecond, 3500 * time.Millisecond, 6500 * time.Millisecond,
			12 * time.Second, 0} {
			t.Run(fmt.Sprintf("%s/%v", tt.name, at), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					fresh, s := newPaperServers(t), newPaperServers(t)
					serveRing(fresh)
					serveRing(s)
					fresh.crawl(tt.after.String(), 0)
					s.crawl(tt.before.String(), at)
					s.log = nil
					s.crawl(tt.after.String(), 0)
					compareMaps(t, s, fresh)
				})
			})
		}
	}
}

func compareMaps(t *testing.T, s, fresh *paperServers) {
	t.Helper()
	got, want := s.survey(), fresh.survey()
	for _, url := range slices.Sorted(maps.Keys(want)) {
		g, w := got[url], want[url]
		if g.depth != w.depth && !(w.depth > 200 && g.state == w.state) {
			t.Errorf("%s: depth %d, want %d (%s, %s)", url, g.depth, w.depth, g.state, w.state)
		}
		if g.state != w.state && !(g.visited && !w.visited) {
			t.Errorf("%s: %s, want %s", url, g.state, w.state)
		}
	}
	for url, g := range got {
		if _, ok := want[url]; !ok && !g.visited && g.state != "discovered" && g.state != "blacklisted" &&
			g.state != "stubbed" {
			t.Errorf("%s: %s at depth %d; a fresh crawl does not know it", url, g.state, g.depth)
		}
	}
	allowed := map[string]bool{}
	for _, e := range fresh.log {
		allowed[e.Host+e.Path] = true
	}
	for _, e := range s.log { // after the change
		if !allowed[e.Host+e.Path] {
			t.Errorf("%s%s was asked, not so by a fresh crawl", e.Host, e.Path)
		}
	}
}

// TestIdentity refuses to resume under other rules for URLs.
func TestIdentity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPaperServers(t)
		serveRing(s)
		s.crawl(ringConfig{1, []string{"h0.test"}, ""}.String(), time.Second)
		for _, more := range []string{"[url]\nstrip-params = [\"x\"]\n", "[url]\nmax-length = 1000\n"} {
			cfg := crawltest.Parse(t, ringConfig{1, []string{"h0.test"}, more}.String())
			store, err := kv.Open(s.path, kv.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := Begin(t.Context(), store, Options{Config: cfg}); !errors.Is(err, ErrIdentity) {
				t.Errorf("%s: %v, want ErrIdentity", more, err)
			}
			store.Close()
		}
		cfg := crawltest.Parse(t, ringConfig{1, []string{"h0.test"}, ""}.String())
		if weburl.Host("https://h0.test/") != "h0.test" || cfg.URLIdentity() == "" {
			t.Error("no identity")
		}
	})
}
