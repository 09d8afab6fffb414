package crawl_test

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/record"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/crawl/wall"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// An answer that a newer rule recognises as a wall is no page: the page is as an earlier run saw it, or failed. Its
// links are gone from the map.
func TestRereadWall(t *testing.T) {
	t.Parallel()
	c := newChanging(t, 500, "off", "0s")
	c.text, _ = keeping(c)
	c.page("a.test", "/", crawltest.Anchors("/old", "/new"))
	c.page("a.test", "/old", crawltest.Anchors("/real"))
	c.page("a.test", "/new", crawltest.Anchors("/junk1"))
	c.page("a.test", "/real", "r")
	c.page("a.test", "/junk1", "1")
	c.page("a.test", "/junk2", "2")
	c.run()
	c.page("a.test", "/", crawltest.Anchors("/old", "/new", "/only"))
	c.page("a.test", "/only", crawltest.Anchors("/junk3"))
	c.page("a.test", "/old", crawltest.Anchors("/junk2"))
	c.page("a.test", "/new", "now"+crawltest.Anchors("/junk1"))
	c.run()
	cfg := crawltest.Parse(t, c.text)
	set, err := ring.NewSettings(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	reread := func(names ...string) int {
		rec := record.New(c.store, set, slog.New(slog.DiscardHandler), nil)
		if err := rec.Resume(); err != nil {
			t.Fatal(err)
		}
		_, changed, err := rec.Reread(1, func(r record.Reading) (*ring.Outcome, bool) {
			if !slices.ContainsFunc(names, func(n string) bool { return strings.HasSuffix(r.Norm, n) }) ||
				r.Visit.Answer != schema.AnswerPage {
				return nil, true
			}
			rule := wall.Rules()[0]
			step := ring.Step{ID: r.ID, URL: r.Norm, Norm: r.Norm, Settings: set}
			return &ring.Outcome{Step: step, Status: 200, Wall: &rule}, true
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := crawl.Reclassify(c.store, cfg); err != nil {
			t.Fatal(err)
		}
		return changed
	}
	if changed := reread("/old", "/only"); changed != 2 {
		t.Errorf("%d pages changed, want 2", changed)
	}
	if changed := reread("/old", "/only"); changed != 0 {
		t.Errorf("the second time, %d pages changed", changed)
	}
	err = c.survey().EachPage(func(p *survey.Page) error {
		if strings.HasSuffix(p.URL, "/old") && (p.State != schema.Processed || p.Visit.Answer != schema.AnswerChallenge) {
			t.Errorf("%s is %s, answer %d", p.URL, p.State, p.Visit.Answer)
		}
		if strings.HasSuffix(p.URL, "/only") &&
			(p.State != schema.Failed || p.Error != "walled: Cloudflare" || p.LinkCount > 0) {
			t.Errorf("%s is %s: %s, %d links", p.URL, p.State, p.Error, p.LinkCount)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	links := fmt.Sprint(c.links())
	if !strings.Contains(links, "a.test/real") || strings.Contains(links, "junk2") || strings.Contains(links, "junk3") {
		t.Errorf("links %s", links)
	}
	if err := survey.Check(c.survey(), func(p string) { t.Error(p) }); err != nil {
		t.Fatal(err)
	}
}
