package export_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
)

// terrain has two runs: in the second, one link is gone and one is new.
func terrain(t testing.TB) *surveytest.World {
	w := surveytest.New(t, surveytest.Lists)
	w.Depth("a.test/old", 0, 0)
	w.Visit("a.test/", w.Links("a.test/two", "old.test/", "b.test/", "stub.test/o/r"))
	w.Visit("a.test/two", w.Links("b.test/", "b.test/two", "x.q.test/"))
	w.Change(func(r *schema.Run) { r.Status = schema.RunCompleted })
	w.Begin()
	w.Depth("a.test/two", 0, 0)
	w.Visit("a.test/", func(v *schema.Visit) {
		v.Title = "Home"
		w.Links("b.test/", "b.test/two", "bad.test/x", "stub.test/o/r", "stub.test/o/s", "stub.test/p")(v)
		for i := range v.Links {
			if v.Links[i].To == w.Page("b.test/two") {
				v.Links[i].Place = schema.PlaceNav
			}
		}
	})
	w.Visit("a.test/two", w.Links("b.test/", "y.q.test/"))
	for _, name := range []string{"b.test/", "b.test/two", "bad.test/x", "stub.test/o/r", "stub.test/o/s", "stub.test/p"} {
		w.Depth(name, 1, 0)
	}
	w.Visit("b.test/", w.Redirect("a.test/"))
	w.Depth("y.q.test/", 0, 0)
	w.Visit("y.q.test/", w.Links("b.test/"))
	w.Change(func(r *schema.Run) { r.Status = schema.RunCompleted })
	return w
}

// lines formats a graph as text: "name class depth pages/visited first-last" and "from > to
// links/pages/editorial first-last".
func lines(t testing.TB, g *export.Graph) (nodes, links []string) {
	t.Helper()
	names := map[uint32]string{}
	err := g.EachNode(func(n *export.Node) error {
		names[n.ID] = strings.TrimPrefix(n.Name, "https://")
		nodes = append(nodes, fmt.Sprintf("%s %s %d %d/%d %d-%d", names[n.ID], n.Class, int8(n.Depth), n.Pages, n.Visited,
			n.First, n.Last))
		if at, ok := g.Rank(n.ID); !ok || at != len(nodes)-1 {
			t.Errorf("%s: rank %d, %v; want %d", n.Name, at, ok, len(nodes)-1)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(nodes) != g.Len() {
		t.Errorf("%d nodes; Len is %d", len(nodes), g.Len())
	}
	err = g.EachLink(func(l *export.Link) error {
		if names[l.From] == "" || names[l.To] == "" {
			t.Errorf("link %d > %d between %q and %q", l.From, l.To, names[l.From], names[l.To])
		}
		links = append(links, fmt.Sprintf("%s > %s %d/%d/%d %d-%d", names[l.From], names[l.To], l.Links, l.Pages, l.Endorsements,
			l.First, l.Last))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(nodes)
	slices.Sort(links)
	return nodes, links
}

func TestGraph(t *testing.T) {
	s := terrain(t).Survey()
	tests := []struct {
		name         string
		opts         export.Options
		nodes, links []string
	}{
		{"hosts, newest run", export.Options{Level: export.LevelHost}, []string{
			"a.test quality 0 2/2 1-2", "b.test discovered 1 2/1 1-2", "bad.test blacklist 1 1/0 2-2",
			"stub.test stub 1 3/0 1-2", "y.q.test quality 0 1/1 2-2",
		}, []string{
			"a.test > b.test 3/2/2 1-2", "a.test > bad.test 1/1/1 2-2", "a.test > stub.test 3/1/3 1-2",
			"a.test > y.q.test 1/1/1 2-2",
			"b.test > a.test 1/1/0 2-2", "y.q.test > b.test 1/1/1 2-2",
		}},
		{"hosts, all", export.Options{Level: export.LevelHost, All: true}, []string{
			"a.test quality 0 3/2 1-2", "b.test discovered 1 2/1 1-2", "bad.test blacklist 1 1/0 2-2",
			"old.test discovered -1 1/0 1-1", "stub.test stub 1 3/0 1-2", "x.q.test quality -1 1/0 1-1",
			"y.q.test quality 0 1/1 2-2",
		}, []string{
			"a.test > b.test 4/2/3 1-2", "a.test > bad.test 1/1/1 2-2", "a.test > old.test 1/1/1 1-1",
			"a.test > stub.test 3/1/3 1-2",
			"a.test > x.q.test 1/1/1 1-1", "a.test > y.q.test 1/1/1 2-2", "b.test > a.test 1/1/0 2-2",
			"y.q.test > b.test 1/1/1 2-2",
		}},
		{"entities", export.Options{Level: export.LevelEntity, Only: 1 << schema.ClassStub}, []string{
			"stub.test/o stub 1 2/0 1-2", "stub.test/p stub 1 1/0 2-2",
		}, nil},
		{"sites", export.Options{Level: export.LevelSite, All: true, MinWeight: 3}, []string{
			"a.test quality 0 3/2 1-2", "b.test discovered 1 2/1 1-2", "bad.test blacklist 1 1/0 2-2",
			"old.test discovered -1 1/0 1-1", "q.test quality 0 2/1 1-2", "stub.test stub 1 3/0 1-2",
		}, []string{"a.test > b.test 4/2/3 1-2", "a.test > stub.test 3/1/3 1-2"}},
		{"pages that are visited, without nav", export.Options{Only: 1<<schema.ClassQuality | 1<<schema.ClassDiscovered,
			Without: 1 << schema.PlaceNav}, []string{
			"a.test/ quality 0 1/1 1-2", "a.test/two quality 0 1/1 1-2", "b.test/ discovered 1 1/1 1-2",
			"b.test/two discovered 1 1/0 1-2", "y.q.test/ quality 0 1/1 2-2",
		}, []string{
			"a.test/ > b.test/ 1/1/1 1-2", "a.test/two > b.test/ 1/1/1 1-2", "a.test/two > y.q.test/ 1/1/1 2-2",
			"b.test/ > a.test/ 1/1/0 2-2", "y.q.test/ > b.test/ 1/1/1 2-2",
		}},
		{"pages, redirects have no place",
			export.Options{Without: 1<<schema.PlaceNav | 1<<schema.PlaceMain | 1<<schema.PlaceBody,
				Only: 1<<schema.ClassQuality | 1<<schema.ClassDiscovered}, []string{
				"a.test/ quality 0 1/1 1-2", "a.test/two quality 0 1/1 1-2", "b.test/ discovered 1 1/1 1-2",
				"b.test/two discovered 1 1/0 1-2", "y.q.test/ quality 0 1/1 2-2",
			}, []string{"b.test/ > a.test/ 1/1/0 2-2"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g, err := export.New(s, tt.opts)
			if err != nil {
				t.Fatal(err)
			}
			nodes, links := lines(t, g)
			if diff := cmp.Diff(tt.nodes, nodes); diff != "" {
				t.Errorf("nodes (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.links, links); diff != "" {
				t.Errorf("links (-want +got):\n%s", diff)
			}
		})
	}
}

// The visited pages of hosts equal those in the reports, even if a list has grown by pages visited
// earlier.
func TestVisitedAndListed(t *testing.T) {
	w := surveytest.New(t, surveytest.Lists)
	w.Visit("a.test/", w.Links("bad.test/", "b.test/", "stub.test/o/r"))
	for _, name := range []string{"bad.test/", "b.test/", "stub.test/o/r"} {
		w.Visit(name, nil)
	}
	s := w.Survey()
	want, got := map[string]int{}, map[string]int{}
	err := s.Hosts.Each(func(r *survey.HostReport) error { want[r.Host.Name] = r.Visited; return nil })
	if err != nil {
		t.Fatal(err)
	}
	g, err := export.New(s, export.Options{Level: export.LevelHost})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.EachNode(func(n *export.Node) error { got[n.Name] = n.Visited; return nil }); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pages visited (-want +got):\n%s", diff)
	}
}

// TestFirstRun shows the first run as it was before the second.
func TestFirstRun(t *testing.T) {
	s, err := terrain(t).Survey().At(1)
	if err != nil {
		t.Fatal(err)
	}
	g, err := export.New(s, export.Options{Level: export.LevelHost})
	if err != nil {
		t.Fatal(err)
	}
	nodes, links := lines(t, g)
	wantNodes := []string{
		"a.test quality 0 3/2 1-1", "b.test discovered 1 2/0 1-1", "old.test discovered 1 1/0 1-1",
		"stub.test stub 1 1/0 1-1", "x.q.test quality 0 1/0 1-1",
	}
	wantLinks := []string{
		"a.test > b.test 3/2/3 1-1", "a.test > old.test 1/1/1 1-1", "a.test > stub.test 1/1/1 1-1",
		"a.test > x.q.test 1/1/1 1-1",
	}
	if diff := cmp.Diff(wantNodes, nodes); diff != "" {
		t.Errorf("nodes (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(wantLinks, links); diff != "" {
		t.Errorf("links (-want +got):\n%s", diff)
	}
	m := g.Meta()
	if m.Runs != "1" || m.Partial() != "partial: 3 hosts cut" {
		t.Errorf("Meta() = %+v, %s", m, m.Partial())
	}
	if m.Cut = 0; !strings.Contains(m.String(), "perhaps partial") {
		t.Errorf("%s: what is not known passes as whole", m)
	}
}

// TestUnfinished shows the results of earlier runs while the newest is not complete.
func TestUnfinished(t *testing.T) {
	w := terrain(t)
	w.Begin()
	w.Visit("a.test/", w.Links("new.test/"))
	g, err := export.New(w.Survey(), export.Options{Level: export.LevelHost})
	if err != nil {
		t.Fatal(err)
	}
	_, links := lines(t, g)
	want := []string{
		"a.test > b.test 1/1/1 1-2", "a.test > new.test 1/1/1 3-3", "a.test > y.q.test 1/1/1 2-2",
		"b.test > a.test 1/1/0 2-2", "y.q.test > b.test 1/1/1 2-2",
	}
	if diff := cmp.Diff(want, links); diff != "" {
		t.Errorf("links (-want +got):\n%s", diff)
	}
}

// The levels agree: the page pairs between two hosts are those between their pages, and so on upwards.
func TestLevels(t *testing.T) {
	s := terrain(t).Survey()
	between := func(level export.Level, of func(*survey.Page) string) map[string]int {
		names := map[uint32]string{}
		sum := map[string]int{}
		pages, err := export.New(s, export.Options{All: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := pages.EachNode(func(n *export.Node) error { names[n.ID] = of(n.Page); return nil }); err != nil {
			t.Fatal(err)
		}
		err = pages.EachLink(func(l *export.Link) error {
			if names[l.From] != names[l.To] {
				sum[names[l.From]+" > "+names[l.To]]++
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		g, err := export.New(s, export.Options{Level: level, All: true})
		if err != nil {
			t.Fatal(err)
		}
		clear(names)
		if err := g.EachNode(func(n *export.Node) error { names[n.ID] = n.Name; return nil }); err != nil {
			t.Fatal(err)
		}
		got := map[string]int{}
		if err := g.EachLink(func(l *export.Link) error {
			got[names[l.From]+" > "+
				names[l.To]] = l.Links
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(sum, got); diff != "" || len(got) == 0 {
			t.Errorf("%s level (-pages +level):\n%s", level, diff)
		}
		return got
	}
	between(export.LevelHost, func(p *survey.Page) string { return p.HostName })
	between(export.LevelEntity, func(p *survey.Page) string { return p.Entity })
	between(export.LevelSite, func(p *survey.Page) string { return p.Site })
}

// A site is titled by the host of the same name, or by another if that has no title, whichever was
// found first.
func TestSiteTitle(t *testing.T) {
	titled := func(title string) func(*schema.Visit) { return func(v *schema.Visit) { v.Title = title } }
	for _, tt := range []struct{ first, own, last, want string }{
		{"x", "", "", "x"}, {"", "", "z", "z"}, {"x", "b", "z", "b"}, {"", "b", "", "b"}, {"", "", "", ""},
	} {
		w := surveytest.New(t, surveytest.Minimal)
		w.Visit("x.b.test/", titled(tt.first))
		w.Visit("b.test/", titled(tt.own))
		w.Visit("z.b.test/", titled(tt.last))
		g, err := export.New(w.Survey(), export.Options{Level: export.LevelSite})
		if err != nil {
			t.Fatal(err)
		}
		err = g.EachNode(func(n *export.Node) error {
			if n.Name == "b.test" && n.Title != tt.want {
				t.Errorf("%+v: the title is %q", tt, n.Title)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestParse(t *testing.T) {
	for _, name := range []string{"page", "host", "entity", "site"} {
		if l, err := export.ParseLevel(name); err != nil || l.String() != name {
			t.Errorf("ParseLevel(%q) = %s, %v", name, l, err)
		}
	}
	if _, err := export.ParseLevel("hosts"); err == nil ||
		err.Error() != `"hosts" is not a level; it may be page, host, entity or site` {
		t.Errorf("ParseLevel: %v", err)
	}
	places, err := export.ParsePlaces([]string{"nav", " footer"})
	if err != nil || !places.Has(schema.PlaceNav) || !places.Has(schema.PlaceFooter) || places.Has(schema.PlaceMain) {
		t.Errorf("ParsePlaces = %b, %v", places, err)
	}
	classes, err := export.ParseClasses([]string{"quality"})
	if err != nil || !classes.Has(schema.ClassQuality) || classes.Has(schema.ClassStub) {
		t.Errorf("ParseClasses = %b, %v", classes, err)
	}
	if _, err := export.ParseClasses([]string{"good"}); err == nil {
		t.Error("ParseClasses took good")
	}
}

func TestMeta(t *testing.T) {
	w := terrain(t)
	w.Host("a.test/", func(h *schema.Host) { h.RunRequests = 1_000_000 })
	w.Depth("a.test/more", 0, 0)
	g, err := export.New(w.Survey(), export.Options{Level: export.LevelHost, MinWeight: 2, Without: 1 << schema.PlaceNav})
	if err != nil {
		t.Fatal(err)
	}
	m := g.Meta()
	if m.Cut == 0 || m.Partial() != fmt.Sprintf("partial: %d hosts cut", m.Cut) || m.Status != "completed" ||
		m.Runs != "2" {
		t.Errorf("Meta() = %+v", m)
	}
	for _, part := range []string{"host level; run 2; completed", "partial: ", "without links in nav",
		"links of weight 2 or more"} {
		if !strings.Contains(m.String(), part) {
			t.Errorf("%q lacks %q", m, part)
		}
	}
}

func TestMeasure(t *testing.T) {
	g, err := export.New(terrain(t).Survey(), export.Options{Level: export.LevelHost})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Picture(); err != nil {
		t.Fatal(err)
	}
	sum, in := 0.0, uint32(0)
	places := map[[2]float32]bool{}
	err = g.EachNode(func(n *export.Node) error {
		sum += n.PageRank
		in += n.InDegree
		places[[2]float32{n.X, n.Y}] = n.Placed
		if n.Depth == kv.NoDepth || n.Radius < 1 {
			t.Errorf("node %+v", n)
		}
		return nil
	})
	if err != nil || sum < 0.999 || sum > 1.001 || in != 6 || len(places) != g.Len() {
		t.Errorf("%v: PageRank adds up to %v, in-degrees to %d, %d places for %d nodes", err, sum, in, len(places), g.Len())
	}
	pages, err := export.New(terrain(t).Survey(), export.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pages.Picture(); err == nil {
		t.Error("pages have a picture")
	}
}
