package survey_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

// A model is a web whose pages are numbers, and the expected result of its crawl.
type model struct {
	cfg   config.Crawler
	pages []modelPage
	own   [][]int // by page: its origins
	seeds []int
}

type modelPage struct {
	host     int
	nofollow bool
	links    []schema.Link // To is a number + 1
}

// drawModel draws a web of a few hosts, some of which belong to origins.
func drawModel(t *rapid.T, hosts [][]int, cfg config.Crawler) *model {
	m := &model{cfg: cfg}
	n := rapid.IntRange(1, 30).Draw(t, "pages")
	for range n {
		p := modelPage{host: rapid.IntRange(0, len(hosts)-1).Draw(t, "host"),
			nofollow: rapid.IntRange(0, 9).Draw(t, "nofollow") == 0}
		m.own = append(m.own, hosts[p.host])
		if rapid.IntRange(0, 2).Draw(t, "redirects") == 0 {
			to := schema.ID(rapid.IntRange(1, n).Draw(t, "to"))
			p.links = []schema.Link{{To: to, Kinds: surveytest.Kinds(schema.LinkRedirect)}}
			m.pages = append(m.pages, p)
			continue
		}
		targets := map[schema.ID]schema.Link{}
		for range rapid.IntRange(0, 4).Draw(t, "links") {
			l := schema.Link{To: schema.ID(rapid.IntRange(1, n).Draw(t, "to")), Kinds: surveytest.Kinds(schema.LinkAnchor)}
			switch rapid.IntRange(0, 5).Draw(t, "kind") {
			case 0:
				l.Kinds = surveytest.Kinds(schema.LinkCanonical)
			case 1:
				l.Rel = schema.RelNofollow
			}
			targets[l.To] = l
		}
		for _, to := range slices.Sorted(maps.Keys(targets)) {
			p.links = append(p.links, targets[to])
		}
		m.pages = append(m.pages, p)
	}
	m.seeds = []int{}
	for i, own := range m.own {
		if len(own) > 0 && (len(m.seeds) == 0 || rapid.Bool().Draw(t, "seed")) {
			m.seeds = append(m.seeds, i)
		}
	}
	return m
}

// A crawled is the result of the recorder's rules for a model: smallest depths and hops as separate
// minima, and the visited pages.
type crawled struct {
	depth, hops []int // a large number: none
	visited     []bool
}

const none = 1 << 20

func (m *model) crawl() *crawled {
	c := &crawled{visited: make([]bool, len(m.pages))}
	for range m.pages {
		c.depth, c.hops = append(c.depth, none), append(c.hops, none)
	}
	relax := func(i, depth, hops int) bool {
		if len(m.own[i]) > 0 {
			depth = 0
		}
		if depth > m.cfg.MaxDepth+1 || depth >= c.depth[i] && hops >= c.hops[i] {
			return false
		}
		c.depth[i], c.hops[i] = min(depth, c.depth[i]), min(hops, c.hops[i])
		return true
	}
	for _, i := range m.seeds {
		relax(i, 0, 0)
	}
	for changed := true; changed; {
		changed = false
		for i, p := range m.pages {
			if c.depth[i] > m.cfg.MaxDepth || c.hops[i] > schema.MaxRedirects {
				continue
			}
			c.visited[i] = true
			for _, l := range p.links {
				if !survey.Carries(m.cfg, l, p.nofollow) {
					continue
				}
				depth, hops := c.depth[i]+1, 0
				if l.Kinds.First() == schema.LinkRedirect {
					depth, hops = max(1, c.depth[i]), c.hops[i]+1
				}
				changed = relax(int(l.To)-1, depth, hops) || changed
			}
		}
	}
	return c
}

// depths returns the depths from one origin, found by relaxing until nothing changes.
func (m *model) depths(c *crawled, origin int) map[int]uint8 {
	found := map[int]uint8{}
	for i := range m.pages {
		if c.depth[i] != none && slices.Contains(m.own[i], origin) {
			found[i] = 0
		}
	}
	for changed := true; changed; {
		changed = false
		for i, p := range m.pages {
			depth, ok := found[i]
			if !ok || !c.visited[i] {
				continue
			}
			for _, l := range p.links {
				if !survey.Carries(m.cfg, l, p.nofollow) {
					continue
				}
				next := depth + 1
				if l.Kinds.First() == schema.LinkRedirect {
					next = max(1, depth)
				}
				to := int(l.To) - 1
				if old, ok := found[to]; int(next) <= m.cfg.MaxDepth+1 && (!ok || next < old) {
					found[to], changed = next, true
				}
			}
		}
	}
	return found
}

// record writes the result of a crawl of the model into a store.
func (m *model) record(w *surveytest.World, hostNames []string, c *crawled) {
	w.Update(func(tx *kv.Tx) error {
		ids := map[string]schema.HostID{}
		for _, name := range hostNames {
			h, err := tx.Hosts.Add(name)
			if err != nil {
				return err
			}
			ids[name] = h.ID
		}
		for i, p := range m.pages {
			path := fmt.Sprintf("/%d", i)
			u := schema.URL{Host: ids[hostNames[p.host]], PathQuery: path, FirstSeen: w.At, FirstRun: 1}
			id, err := tx.URLs.Add(u, w.Store.Hash(schema.KindPage, "https://"+hostNames[p.host]+path))
			if err != nil {
				return err
			}
			if c.depth[i] != none {
				tx.Depths.Lower(id, uint8(c.depth[i]), uint8(c.hops[i]))
			}
		}
		for i, p := range m.pages {
			if !c.visited[i] {
				continue
			}
			v := &schema.Visit{URL: schema.ID(i + 1), Run: 1, At: w.At, State: schema.Processed, Status: 200,
				Requests: 1, Content: schema.Content{NoFollow: p.nofollow}, Links: slices.Clone(p.links)}
			if len(p.links) == 1 && p.links[0].Kinds.Has(schema.LinkRedirect) {
				v.RedirectTo = p.links[0].To
			}
			if _, err := tx.Visits.Add(v); err != nil {
				return err
			}
		}
		return nil
	})
}

// TestOriginDepths compares the bit-parallel search with the simple one, and both with the
// recorder's rules, on random webs with redirects.
func TestOriginDepths(t *testing.T) {
	names := []string{"a.test", "b.q.test", "c.q.test", "d.test", "e.test"}
	hosts := [][]int{{0}, {1, 2}, {1}, nil, nil}
	const origins = surveytest.Minimal + `[[quality]]
domain = "*.q.test"
seeds = ["https://q.test/"]
[[quality]]
domain = "b.q.test"
seeds = ["https://b.q.test/"]
`
	// OriginsOf returns origins in the order of the terrain, whatever the pattern.
	rapid.Check(t, func(rt *rapid.T) {
		cfg := fmt.Sprintf("[crawler]\nmax-depth = %d\nrespect-nofollow = %t\nfollow-canonical = %t\n",
			rapid.IntRange(0, 4).Draw(rt, "max-depth"), rapid.Bool().Draw(rt, "respect-nofollow"),
			rapid.Bool().Draw(rt, "follow-canonical"))
		w := surveytest.New(t, cfg+origins)
		defer w.Store.Close()
		m := drawModel(rt, hosts, w.Config.Crawler)
		c := m.crawl()
		m.record(w, names, c)
		s := w.Survey()
		depths, err := s.OriginDepths()
		if err != nil {
			rt.Fatal(err)
		}
		for origin := range 3 {
			want := m.depths(c, origin)
			for i := range m.pages {
				got, found := depthFrom(depths, schema.ID(i+1), origin)
				if depth, ok := want[i]; ok != found || ok && depth != got {
					rt.Fatalf("page %d from origin %d: %d, %t; want %d, %t", i, origin, got, found, depth, ok)
				}
			}
		}
		for i := range m.pages {
			checkWays(rt, s, depths, schema.ID(i+1))
		}
		for i := range m.pages {
			smallest := none
			for _, depth := range depths.Of(schema.ID(i + 1)) {
				smallest = min(smallest, int(depth))
			}
			if want := c.depth[i]; smallest != want {
				rt.Fatalf("smallest depth of page %d: %d; the recorder has %d", i, smallest, want)
			}
		}
	})
}

func depthFrom(d *survey.Depths, id schema.ID, origin int) (uint8, bool) {
	last := -1
	for o, depth := range d.Of(id) {
		if o <= last {
			panic("origins out of order")
		}
		if last = o; o == origin {
			return depth, true
		}
	}
	return 0, false
}

// checkWays compares the paths to a page with its depths, and checks each of them.
func checkWays(t *rapid.T, s *survey.Survey, depths *survey.Depths, id schema.ID) {
	ways, err := s.Ways(id, 3)
	if err != nil {
		t.Fatal(err)
	}
	got := map[int]uint8{}
	for i, w := range ways {
		got[w.Origin] = w.Depth
		if i > 0 && (ways[i-1].Depth > w.Depth || ways[i-1].Depth == w.Depth && ways[i-1].Origin > w.Origin) {
			t.Fatalf("ways out of order: %v", ways)
		}
		checkHops(t, w, id)
	}
	if diff := cmp.Diff(maps.Collect(depths.Of(id)), got); diff != "" {
		t.Fatalf("depths of page %d (-want +got):\n%s", id, diff)
	}
	if nearest, err := s.Ways(id, 1); err != nil || len(ways) > 0 && cmp.Diff(ways[:1], nearest) != "" {
		t.Fatalf("the nearest way to page %d: %v, %v; all are %v", id, nearest, err, ways)
	}
}

// checkHops checks that a path has its depth.
func checkHops(t *rapid.T, w survey.Way, id schema.ID) {
	length := 0
	for i, hop := range w.Hops {
		switch {
		case i == 0:
		case hop.Link.To != hop.ID:
			t.Fatalf("hop %d of %v is not by its link", i, w)
		case hop.Link.Kinds.First() == schema.LinkRedirect:
			length = max(1, length)
		default:
			length++
		}
	}
	if length != int(w.Depth) || w.Hops[len(w.Hops)-1].ID != id {
		t.Fatalf("the way to %d proves depth %d: %v", id, length, w)
	}
}

// TestManyOrigins needs more than one word of origins.
func TestManyOrigins(t *testing.T) {
	var b strings.Builder
	b.WriteString("[user-agent]\ncrawler-name = \"Test\"\n")
	const n = 150
	for i := range n {
		fmt.Fprintf(&b, "[[quality]]\ndomain = \"o%d.test\"\nseeds = [\"https://o%d.test/\"]\n", i, i)
	}
	w := surveytest.New(t, b.String())
	for _, i := range []int{0, 63, 64, 149} {
		w.Visit(fmt.Sprintf("o%d.test/", i), w.Links("hub.test/"))
	}
	w.Depth("hub.test/", 1, 0)
	w.Visit("hub.test/", w.Links("end.test/", "o64.test/"))
	depths, err := w.Survey().OriginDepths()
	if err != nil {
		t.Fatal(err)
	}
	got := maps.Collect(depths.Of(w.Page("end.test/")))
	if diff := cmp.Diff(map[int]uint8{0: 2, 63: 2, 64: 2, 149: 2}, got); diff != "" {
		t.Errorf("depths (-want +got):\n%s", diff)
	}
	got = maps.Collect(depths.Of(w.Page("o64.test/")))
	if diff := cmp.Diff(map[int]uint8{0: 2, 63: 2, 64: 0, 149: 2}, got); diff != "" {
		t.Errorf("depths (-want +got):\n%s", diff)
	}
}

// TestFirstWay has several paths of one length: the result leads over the pages that were met
// first, whatever the order of visits.
func TestFirstWay(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal)
	for _, name := range []string{"a.test/", "a.test/2", "b.test/", "c.test/", "d.test/", "end.test/"} {
		w.Depth(name, min(1, uint8(len(name)-len("a.test/"))), 0)
	}
	w.Visit("d.test/", w.Links("end.test/"))
	w.Visit("c.test/", w.Links("end.test/"))
	w.Visit("b.test/", w.Links("d.test/"))
	w.Visit("a.test/2", w.Links("b.test/", "c.test/", "d.test/"))
	w.Visit("a.test/", w.Links("c.test/", "d.test/"))
	ways, err := w.Survey().Ways(w.Page("end.test/"), 10)
	if err != nil || len(ways) != 1 || ways[0].Depth != 2 {
		t.Fatalf("%v, %v", ways, err)
	}
	var got []string
	for _, hop := range ways[0].Hops {
		got = append(got, hop.URL)
	}
	if diff := cmp.Diff([]string{"https://a.test/", "https://c.test/", "https://end.test/"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestOlderDepths shows the results of the first run while a second one is under way.
func TestOlderDepths(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal)
	w.Visit("a.test/", w.Links("b.test/"))
	w.Depth("b.test/", 1, 0)
	w.Visit("b.test/", w.Links("c.test/"))
	w.Depth("c.test/", 2, 0)
	w.Change(func(r *schema.Run) { r.Status = schema.RunCompleted })
	w.Begin()
	w.Depth("a.test/", 0, 0)
	if p := look(t, w, "b.test/"); p.Depth != 1 || p.State != schema.Processed || p.LastRun != 1 || p.InRun {
		t.Errorf("page of the first run: %+v", p)
	}
	if p := look(t, w, "c.test/"); p.Depth != 2 || p.State != schema.Discovered {
		t.Errorf("page that waited in the first run: %+v", p)
	}
	w.Visit("a.test/", nil)
	// outputs are being written
	w.Change(func(r *schema.Run) { r.Status, r.Walked, r.Finished = schema.RunRunning, true, w.At })
	s := w.Survey()
	if run := s.Run(); run.Status != schema.RunCompleted || !run.Finished.Equal(w.At) {
		t.Errorf("run whose outputs are being written: %s, %s", run.Status, run.Finished)
	}
	for _, name := range []string{"b.test/", "c.test/"} {
		p := look(t, w, name)
		if p.Depth != kv.NoDepth || p.State != schema.Discovered || p.LastRun != 1 || !p.Gone || p.Error != "not met in run #2" {
			t.Errorf("page that the second run did not reach: %+v", p)
		}
	}
}

// TestLongRedirects finds paths along as many consecutive redirects as a host has pages: a crawl
// may follow one from each of its pages, so the limit on redirects does not apply to paths.
func TestLongRedirects(t *testing.T) {
	const chain = 200_000
	m := &model{pages: []modelPage{{links: []schema.Link{{To: 2, Kinds: surveytest.Kinds(schema.LinkAnchor)}}}}}
	c := &crawled{depth: []int{0}, hops: []int{0}, visited: []bool{true}}
	for i := range chain {
		to := schema.Link{To: schema.ID(i + 3), Kinds: surveytest.Kinds(schema.LinkRedirect)}
		m.pages = append(m.pages, modelPage{host: 1, links: []schema.Link{to}})
		c.depth, c.hops, c.visited = append(c.depth, 1), append(c.hops, 0), append(c.visited, true)
	}
	m.pages = append(m.pages, modelPage{host: 1})
	c.depth, c.hops, c.visited = append(c.depth, 1), append(c.hops, 0), append(c.visited, true)
	w := surveytest.New(t, surveytest.Minimal)
	m.record(w, []string{"a.test", "b.test"}, c)
	last := schema.ID(chain + 2)
	ways, err := w.Survey().Ways(last, 1)
	if err != nil || len(ways) != 1 || ways[0].Depth != 1 || len(ways[0].Hops) != chain+2 {
		t.Fatalf("%d ways, %v", len(ways), err)
	}
	w.Change(func(r *schema.Run) { r.Status = schema.RunCompleted })
	w.Begin()
	if p, err := w.Survey().Page(last); err != nil || p.Depth != 1 {
		t.Errorf("the last page, when a second run begins: depth %d, %v", p.Depth, err)
	}
}

// BenchmarkOriginDepths searches 20,000 pages with ten links each from 200 origins; ten times as
// many pages with RIPPLE_BENCH_LARGE set. Reading the links is not included.
func BenchmarkOriginDepths(b *testing.B) {
	pages := 20_000
	if os.Getenv("RIPPLE_BENCH_LARGE") != "" {
		pages *= 10
	}
	var text strings.Builder
	text.WriteString("[user-agent]\ncrawler-name = \"Test\"\n")
	for i := range 200 {
		fmt.Fprintf(&text, "[[quality]]\ndomain = \"o%d.test\"\nseeds = [\"https://o%d.test/\"]\n", i, i)
	}
	w := surveytest.New(b, text.String())
	fillBench(w, pages)
	s := w.Survey()
	if _, err := s.OriginDepths(); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.OriginDepths(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkEachPage derives the state of every page.
func BenchmarkEachPage(b *testing.B) {
	w := surveytest.New(b, surveytest.Minimal)
	const pages = 20_000
	fillBench(w, pages)
	s := w.Survey()
	b.ReportAllocs()
	for b.Loop() {
		if err := s.EachPage(func(*survey.Page) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(pages)*float64(b.N)/b.Elapsed().Seconds(), "pages/s")
}

// fillBench makes a hundred hosts outside the origins and a page for each of 200
// origins, all visited, ten links each.
func fillBench(w *surveytest.World, pages int) {
	hosts := make([]string, 300)
	m := &model{}
	c := &crawled{}
	for i := range hosts {
		hosts[i] = fmt.Sprintf("o%d.test", i)
	}
	for i := range pages {
		p := modelPage{host: i}
		if i >= 200 {
			p.host = 200 + i%100
		}
		targets := map[int]bool{}
		for j := range 10 {
			targets[(i*(j+3)*7919+j*104729)%pages+1] = true
		}
		for _, to := range slices.Sorted(maps.Keys(targets)) {
			p.links = append(p.links, schema.Link{To: schema.ID(to), Kinds: surveytest.Kinds(schema.LinkAnchor)})
		}
		m.pages = append(m.pages, p)
		c.depth, c.hops, c.visited = append(c.depth, min(i/200, 1)), append(c.hops, 0), append(c.visited, true)
	}
	m.record(w, hosts, c)
}
