package suggest_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/export/suggest"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

const lists = surveytest.Lists + `[[quality]]
domain = "z.test"
seeds = ["https://z.test/"]
[[entity]]
domain = "*.many.test"
by = "site"
[[entity]]
domain = "forge.test"
by = "path-1"
`

func terrain(t *testing.T) *surveytest.World {
	w := surveytest.New(t, lists)
	footer := func(v *schema.Visit, name string) {
		for i := range v.Links {
			if v.Links[i].To == w.Page(name) {
				v.Links[i].Place = schema.PlaceFooter
			}
		}
	}
	w.Visit("a.test/", w.Links("two.test/", "two.test/b", "near.test/", "bad.test/", "q.test/", "stub.test/o/r",
		"forge.test/o.x/r", "a.many.test/", "host.test:8443/", "192.0.2.7/", "sold.test/"))
	w.Visit("a.test/more", func(v *schema.Visit) {
		w.Links("two.test/", "foot.test/")(v)
		footer(v, "foot.test/")
	})
	w.Visit("q.test/", func(v *schema.Visit) {
		w.Links("two.test/", "foot.test/", "stub.test/o/s", "b.many.test/", "a.test/")(v)
		footer(v, "foot.test/")
	})
	w.Visit("x.q.test/", w.Links("stub.test/p"))
	w.Visit("z.test/", func(v *schema.Visit) {
		w.Links("near.test/", "two.test/")(v)
		footer(v, "two.test/")
	})
	w.Visit("two.test/", func(v *schema.Visit) { v.Title = "Two"; w.Links("far.test/", "near.test/")(v) })
	w.Visit("sold.test/", func(v *schema.Visit) { v.Title = "sold.test is for sale" })
	w.Host("sold.test/", func(h *schema.Host) { h.Visits = 1 })
	w.Change(func(r *schema.Run) { r.Status = schema.RunCompleted })
	return w
}

// told formats candidates as text: "name votes links: origin editorial/elsewhere/site-wide", the last
// part only if not 0.
func told(all []suggest.Candidate) []string {
	var lines []string
	for _, c := range all {
		var origins []string
		for _, o := range c.Origin {
			text := fmt.Sprintf("%s %d/%d", o.Name, o.Editorial, o.Elsewhere)
			if o.SiteWide > 0 {
				text += fmt.Sprintf("/%d", o.SiteWide)
			}
			origins = append(origins, text)
		}
		lines = append(lines, fmt.Sprintf("%s %d %d: %s", c.Name, c.Votes, c.Links, strings.Join(origins, ", ")))
	}
	return lines
}

func TestFind(t *testing.T) {
	s := terrain(t).Survey()
	found, err := suggest.Find(s, suggest.Options{MinOrigins: 0, Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"near.test 2 2: a.test 1/0, z.test 1/0", // all of z.test's endorsements
		"two.test 2 5: *.q.test 1/0, a.test 3/0, z.test 0/1",
		"many.test 2 2: *.q.test 1/0, a.test 1/0",
		"192.0.2.7 1 1: a.test 1/0",
		"forge.test/o.x 1 1: a.test 1/0",
		"host.test:8443 1 1: a.test 1/0",
		"foot.test 0 2: *.q.test 0/1, a.test 0/1",
	}
	if diff := cmp.Diff(want, told(found.Discovered)); diff != "" {
		t.Errorf("discovered (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"stub.test/o 2 2: *.q.test 1/0, a.test 1/0", "stub.test/p 1 1: *.q.test 1/0"},
		told(found.Stubs)); diff != "" {
		t.Errorf("stubs (-want +got):\n%s", diff)
	}
	two := found.Discovered[1]
	if two.Title != "Two" || two.Pages != 2 || two.Origin[0].From != "https://q.test/" ||
		two.Origin[0].To != "https://two.test/" || two.Origin[0].Anchor != "to two.test/" {
		t.Errorf("two.test: %+v", two)
	}
	if two.Coverage != "complete" || two.Answers != "https://two.test/" {
		t.Errorf("two.test: %+v", two)
	}
	if near := found.Discovered[0]; near.Coverage != "not visited" || near.Answers != "" {
		t.Errorf("near.test: %+v", near)
	}
	if found.Origins != 3 {
		t.Errorf("%d origins", found.Origins)
	}
	few, err := suggest.Find(s, suggest.Options{MinOrigins: 2, Limit: 1})
	if err != nil || len(few.Discovered) != 1 || len(few.Stubs) != 1 {
		t.Errorf("at most one of each, of two origins: %+v, %v", few, err)
	}
}

// Similar candidates share a rank and are sorted by name, whatever order their pages were found in.
func TestFindAlike(t *testing.T) {
	var want []string
	ranks := map[float64]bool{}
	for i := range 40 {
		want = append(want, fmt.Sprintf("c%02d.test", i))
	}
	for seed := range uint64(4) {
		rng := rand.New(rand.NewPCG(seed, 1))
		w := surveytest.New(t, lists)
		var links []string
		for _, i := range rng.Perm(len(want)) {
			links = append(links, want[i]+"/")
		}
		w.Visit("a.test/", w.Links("a.test/more", "q.test/"))
		pages := append([]string{"a.test/more", "q.test/"}, links...)
		for _, i := range rng.Perm(len(pages)) {
			w.Visit(pages[i], w.Links(append(links, "a.test/")...))
		}
		found, err := suggest.Find(w.Survey(), suggest.Options{MinOrigins: 1, Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range found.Discovered {
			got = append(got, c.Name)
			ranks[math.Round(c.Trust*1e12)] = true
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("seed %d (-want +got):\n%s", seed, diff)
		}
	}
	if len(ranks) != 1 {
		t.Errorf("ranks %v", ranks)
	}
}

// Every block is valid in the configuration.
func TestBlock(t *testing.T) {
	found, err := suggest.Find(terrain(t).Survey(), suggest.Options{MinOrigins: 0, Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	blocks := map[string]string{}
	text := lists
	for _, c := range found.Discovered {
		blocks[c.Name] = c.Block()
		text += c.Block()
	}
	for name, want := range map[string]string{
		"two.test":  "[[quality]]\ndomain = \"two.test\"\nseeds = [\"https://two.test/\"]\n",
		"many.test": "[[quality]]\ndomain = \"*.many.test\"\nseeds = [\"https://a.many.test/\"]\n",
		"forge.test/o.x": "[[quality]]\ndomain = \"forge.test\"\nseeds = [\"https://forge.test/o.x\"]\n" +
			"include = [\"^/o\\\\.x($|[/?])\"]\n",
		"host.test:8443": "[[quality]]\ndomain = \"host.test\"\nseeds = [\"https://host.test:8443/\"]\n",
	} {
		if blocks[name] != want {
			t.Errorf("%s:\n%s", name, blocks[name])
		}
	}
	if _, _, err := config.Parse([]byte(text), t.TempDir(), os.ReadFile); err != nil {
		t.Errorf("%v in\n%s", err, text)
	}
}

// All blocks together are valid in the configuration; several parts and ports of one host share an
// entry.
func TestBlocks(t *testing.T) {
	w := surveytest.New(t, lists)
	w.Visit("a.test/", w.Links("forge.test/o/r", "forge.test/p/r", "two.test/", "host.test:8443/", "host.test/",
		"forge.test:81/"))
	w.Visit("two.test/", nil)
	w.Change(func(r *schema.Run) { r.Status = schema.RunCompleted })
	found, err := suggest.Find(w.Survey(), suggest.Options{MinOrigins: 0, Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(suggest.Blocks(found.Discovered), "")
	cfg, _, err := config.Parse([]byte(lists+text), t.TempDir(), os.ReadFile)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	for _, c := range found.Discovered {
		host, _, _ := strings.Cut(c.Name, "/")
		if cfg.Scope().HostClass(host).Class != schema.ClassQuality {
			t.Errorf("%s is in none of\n%s", c.Name, text)
		}
	}
	if want := 3; strings.Count(text, "[[quality]]") != want {
		t.Errorf("not %d entries:\n%s", want, text)
	}
}

// The seed is a page that answered, in the form requested: the front page if it did.
func TestSeed(t *testing.T) {
	w := surveytest.New(t, lists)
	w.Visit("a.test/", w.Links("dead.test/", "www.test/", "moved.test/", "a.many.test/", "forge.test/o/r", "late.test/x"))
	dead := func(v *schema.Visit) { v.State, v.Status, v.Links = schema.DeadLink, 404, nil }
	w.Visit("dead.test/", dead)
	w.Visit("dead.test/a", nil)
	w.Visit("dead.test/b", nil)
	w.Visit("www.test/", func(v *schema.Visit) { v.Form = "https://www.www.test/" })
	w.Visit("moved.test/", func(v *schema.Visit) { v.Status, v.RedirectTo = 301, w.Page("two.test/") })
	w.Visit("a.many.test/", dead)
	w.Visit("b.many.test/x", nil)
	w.Visit("forge.test/o/r", nil)
	w.Visit("late.test/x", nil)
	w.Visit("late.test/", nil)
	w.Change(func(r *schema.Run) { r.Status = schema.RunCompleted })
	found, err := suggest.Find(w.Survey(), suggest.Options{MinOrigins: 0, Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	got, text := map[string]string{}, lists
	for _, c := range found.Discovered {
		got[c.Name] = c.Answers
		text += c.Block()
	}
	want := map[string]string{
		"dead.test": "https://dead.test/a", "www.test": "https://www.www.test/", "moved.test": "",
		"many.test":    "https://b.many.test/x",
		"forge.test/o": "https://forge.test/o/r", "late.test": "https://late.test/",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, _, err := config.Parse([]byte(text), t.TempDir(), os.ReadFile); err != nil {
		t.Errorf("%v in\n%s", err, text)
	}
}

// An ending is a context that ends after a number of checks.
type ending struct {
	context.Context
	left atomic.Int64
}

func (e *ending) Err() error {
	if e.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// The search can be cancelled at every check, and then returns nothing.
func TestFindEnds(t *testing.T) {
	w := surveytest.New(t, lists)
	w.Visit("a.test/", w.Links("subject.test/", "a.test/x"))
	w.Visit("a.test/x", w.Links("subject.test/"))
	w.Change(func(r *schema.Run) { r.Status = schema.RunCompleted })
	for looks := int64(0); ; looks++ {
		ctx := &ending{Context: context.Background()}
		ctx.left.Store(looks)
		s := w.Survey()
		s.Until(ctx)
		found, err := suggest.Find(s, suggest.Options{MinOrigins: 0, Limit: 10})
		ended := ctx.left.Load() < 0
		if !ended && err == nil && looks > 0 {
			return
		}
		if ended && (err == nil || found != nil) {
			t.Fatalf("ended at look %d: %v, %v", looks+1, found, err)
		}
	}
}

// Pages that have disappeared or been blacklisted do not vote.
func TestFindSilenced(t *testing.T) {
	w := surveytest.New(t, lists+"[[blacklist]]\nurl = '^https://a.test/ads'\n")
	finish := func() { w.Change(func(r *schema.Run) { r.Status = schema.RunCompleted }) }
	w.Visit("a.test/", w.Links("a.test/gone", "a.test/ads"))
	w.Visit("a.test/gone", w.Links("left.test/", "two.test/"))
	finish()
	w.Begin()
	w.Visit("a.test/", w.Links("a.test/ads"))
	w.Visit("a.test/ads", w.Links("listed.test/", "two.test/"))
	w.Visit("q.test/", w.Links("two.test/"))
	for _, want := range [][]string{
		{"two.test 2 2: *.q.test 1/0, a.test 1/0", "left.test 1 1: a.test 1/0"}, // pages not reached in run 2 count
		{"two.test 1 1: *.q.test 1/0"},
	} {
		found, err := suggest.Find(w.Survey(), suggest.Options{MinOrigins: 1, Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, told(found.Discovered)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		finish()
	}
}

// Pages vote for the most specific of their origins, which need not have the longest name.
func TestFindNarrowest(t *testing.T) {
	w := surveytest.New(t, lists+"[[quality]]\ndomain = \"*.a.test\"\nseeds = [\"https://a.test/\"]\n")
	w.Visit("a.test/", w.Links("two.test/"))
	w.Visit("x.a.test/", w.Links("two.test/", "near.test/"))
	found, err := suggest.Find(w.Survey(), suggest.Options{MinOrigins: 1, Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"two.test 1 2: *.a.test 1/0, a.test 1/0", "near.test 1 1: *.a.test 1/0"}
	if diff := cmp.Diff(want, told(found.Discovered)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
