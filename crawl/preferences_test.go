package crawl_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema/preference"
)

// preferences returns what owners say about the pages that were read.
func (c *changing) preferences() map[string]string {
	c.t.Helper()
	found := map[string]string{}
	err := c.survey().EachPage(func(p *survey.Page) error {
		if p.Visit != nil {
			found[strings.TrimPrefix(p.URL, "https://")] = preference.Applied(p.Visit.Preferences)
		}
		return nil
	})
	if err != nil {
		c.t.Fatal(err)
	}
	return found
}

// A page has the preferences of its header, its elements and the line of robots.txt for its path, as they were when it
// was read. They change neither requests nor links. A replay finds them again, and a page that must not be stored is
// not in the page store.
func TestPreferences(t *testing.T) {
	t.Parallel()
	web := func(said bool) (c *changing, asked []string) {
		c = newChanging(t, 500, "off", "0s")
		c.text, _ = keeping(c)
		c.page("a.test", "/", crawltest.Anchors("/open/x", "/brief", "/same"))
		c.page("a.test", "/same", "s")
		if said {
			c.page("a.test", "/open/x", `<link rel=license href="/l">`)
			c.Host("a.test").Page("/open/x", `<link rel=license href="/l">`).Header("Content-Usage", "search=n, train-ai=y;p")
			c.page("a.test", "/brief", "b")
			c.Host("a.test").Page("/brief", "b").Header("Content-Signal", "Use=Immediate")
			c.Host("a.test").Robots("User-agent: *\nContent-Usage: train-ai=n, own=1\nContent-Usage: /open/ train-ai=y\n" +
				"Content-Signal: search=yes, use=reference\nLicense: https://l.test/\n")
		} else {
			c.page("a.test", "/open/x", "x")
			c.page("a.test", "/brief", "b")
			c.Host("a.test").Robots("User-agent: *\nAllow: /\n")
		}
		return c, c.run()
	}
	silent, silentAsked := web(false)
	c, asked := web(true)
	if !slices.Equal(asked, silentAsked) {
		t.Errorf("requests %q, without preferences %q", asked, silentAsked)
	}
	if diff := cmp.Diff(silent.links(), c.links()); diff != "" {
		t.Errorf("links:\n%s", diff)
	}
	whole := "Content-Usage: own=1, train-ai=n; Content-Signal: search=yes, use=reference; License: https://l.test/"
	want := map[string]string{
		"a.test/": whole, "a.test/same": whole, "a.test/brief": strings.Replace(whole, "reference", "immediate", 1),
		"a.test/open/x": "Content-Usage: search=n, train-ai=y; Content-Signal: search=yes, use=reference; " +
			"License: https://a.test/l https://l.test/",
	}
	if diff := cmp.Diff(want, c.preferences()); diff != "" {
		t.Errorf("crawled (-want +got):\n%s", diff)
	}
	for page, path := range c.storedPaths() {
		if fleeting := page == "a.test/brief"; (path == "") != fleeting {
			t.Errorf("%s is stored as %q", page, path)
		}
	}
	if done, err := crawl.Replay(c.store, crawltest.Parse(t, c.text)); err != nil || done.Changed != 0 {
		t.Errorf("a replay changes %d pages, %v", done.Changed, err)
	}
	if diff := cmp.Diff(want, c.preferences()); diff != "" {
		t.Errorf("replayed (-want +got):\n%s", diff)
	}
	c.Host("a.test").Robots("User-agent: *\nContent-Usage: train-ai=y\n")
	c.forgetRobots()
	c.page("a.test", "/", crawltest.Anchors("/open/x", "/brief", "/same", "/"))
	if asked := c.run(); !slices.Contains(asked, "a.test/same 304") {
		t.Errorf("a page is not found unmodified: %q", asked)
	}
	want = map[string]string{
		"a.test/": "Content-Usage: train-ai=y", "a.test/same": "Content-Usage: train-ai=y",
		"a.test/brief":  "Content-Usage: train-ai=y; Content-Signal: use=immediate",
		"a.test/open/x": "Content-Usage: search=n, train-ai=y; License: https://a.test/l",
	}
	if diff := cmp.Diff(want, c.preferences()); diff != "" {
		t.Errorf("after a change of robots.txt (-want +got):\n%s", diff)
	}
	err := c.survey().Hosts.Each(func(h *survey.HostReport) error {
		if h.Host.Name == "a.test" && h.Preferences != "Content-Usage: train-ai=y" {
			t.Errorf("the host's preferences are %q", h.Preferences)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// storedPaths returns where the pages that were read are in the page store.
func (c *changing) storedPaths() map[string]string {
	c.t.Helper()
	found := map[string]string{}
	err := c.survey().EachPage(func(p *survey.Page) error {
		if p.Visit != nil {
			found[strings.TrimPrefix(p.URL, "https://")] = p.Visit.StoredPath
		}
		return nil
	})
	if err != nil {
		c.t.Fatal(err)
	}
	return found
}

// Demands for payment are in a row until a page is shown: a page that is missing, or a wall, shows none.
func TestPaymentRow(t *testing.T) {
	t.Parallel()
	for _, between := range []struct{ status, demands int }{{404, 3}, {410, 3}, {403, 3}, {200, 5}} {
		c := newChanging(t, 500, "off", "0s")
		c.text = strings.Replace(c.text, "[politeness]\n", "[politeness]\nmax-parallel-per-domain = 1\n", 1)
		var paths []string
		for i := range 5 {
			paid, other := fmt.Sprintf("/%d", 2*i), fmt.Sprintf("/%d", 2*i+1)
			c.Host("a.test").Page(paid, "").Status(402)
			c.Host("a.test").Page(other, "x").Status(between.status)
			paths = append(paths, paid, other)
		}
		c.page("a.test", "/", crawltest.Anchors(paths...))
		demands := 0
		for _, line := range c.run() {
			if strings.HasSuffix(line, " 402") {
				demands++
			}
		}
		if demands != between.demands {
			t.Errorf("with answers %d between: %d demands for payment, want %d", between.status, demands, between.demands)
		}
	}
}

// A demand for payment is not retried, and keeps the price as written. A host that makes three in a row is left, and
// requested once in the next run. A link to such a page is not broken.
func TestPaymentRequired(t *testing.T) {
	t.Parallel()
	c := newChanging(t, 500, "off", "0s")
	paths := []string{"/1", "/2", "/3", "/4", "/5"}
	c.page("a.test", "/", crawltest.Anchors(paths...))
	for _, path := range paths {
		c.Host("a.test").Page(path, "").Status(402).Header("Crawler-Price", "USD\x20 0.0100")
	}
	paid := func(want int) {
		t.Helper()
		demands := 0
		asked := c.run()
		for _, line := range asked {
			if strings.HasSuffix(line, " 402") {
				demands++
			}
		}
		if demands != want {
			t.Errorf("%d demands for payment, want %d: %q", demands, want, asked)
		}
	}
	paid(3)
	err := c.survey().EachPage(func(p *survey.Page) error {
		if p.Visit != nil && p.Visit.Status == 402 && (p.Visit.Reason.String() != "payment required: USD 0.0100" ||
			p.State.String() != "failed" || p.Broken() || p.ErrorKind() != "payment") {
			t.Errorf("%s: %s, %s, %s, broken %t", p.URL, p.State, p.Error, p.ErrorKind(), p.Broken())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	c.page("a.test", "/", crawltest.Anchors(append(paths, "/6")...))
	paid(1)
	for _, path := range paths {
		c.page("a.test", path, "now free")
	}
	paid(0)
	for _, path := range paths {
		c.Host("a.test").Page(path, "").Status(402)
	}
	paid(3)
}
