package export_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
)

// In TestCollapse, three pages say nearly the same, one of them on another host. Their links are added up, and links
// among them are dropped. If a class is left out, another page is the node.
func TestCollapse(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal)
	for _, p := range []struct {
		name string
		hash schema.SimHash
		to   []string
	}{
		{"a.test/", 0, []string{"a.test/one", "a.test/print", "b.test/copy", "a.test/end"}},
		{"b.test/copy", 0xff00, []string{"a.test/end", "c.test/"}},
		{"a.test/one", 0xff01, []string{"a.test/print", "a.test/end"}},
		{"a.test/print", 0xff03, []string{"a.test/end", "a.test/"}},
		{"a.test/end", 0xabcd << 40, []string{"a.test/one"}},
		{"c.test/", 0, nil},
	} {
		depth := uint8(0)
		if p.name[0] != 'a' {
			depth = 1
		}
		w.Depth(p.name, depth, 0)
		w.Visit(p.name, func(v *schema.Visit) {
			v.SimHash = p.hash
			w.Links(p.to...)(v)
		})
	}
	discovered, err := export.ParseClasses([]string{"discovered"})
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		only         export.Classes
		least        int
		nodes, links []string
	}{
		{0, 0, []string{"https://a.test/ 1/2", "https://a.test/one 2/3", "https://a.test/end 2/1", "https://c.test/ 1/0"}, []string{
			"https://a.test/ > https://a.test/end 1/1", "https://a.test/ > https://a.test/one 3/1",
			"https://a.test/end > https://a.test/one 1/1", "https://a.test/one > https://a.test/ 1/1",
			"https://a.test/one > https://a.test/end 3/3", "https://a.test/one > https://c.test/ 1/1",
		}},
		{0, 2, []string{"https://a.test/ 0/1", "https://a.test/one 1/1", "https://a.test/end 1/0", "https://c.test/ 0/0"}, []string{
			"https://a.test/ > https://a.test/one 3/1", "https://a.test/one > https://a.test/end 3/3",
		}},
		{discovered, 0, []string{"https://b.test/copy 0/1", "https://c.test/ 1/0"},
			[]string{"https://b.test/copy > https://c.test/ 1/1"}},
	}
	for _, tt := range tests {
		g, err := export.New(w.Survey(), export.Options{Collapse: true, Only: tt.only, MinWeight: tt.least})
		if err != nil {
			t.Fatal(err)
		}
		m, err := g.Measure()
		if err != nil {
			t.Fatal(err)
		}
		names, nodes, links := map[uint32]string{}, []string(nil), []string(nil)
		err = g.EachNode(func(n *export.Node) error {
			names[n.ID] = n.Name
			nodes = append(nodes, fmt.Sprintf("%s %d/%d", n.Name, n.InDegree, n.OutDegree))
			return nil
		})
		if err != nil || g.Len() != len(nodes) || len(m.In) != len(nodes) {
			t.Errorf("%d nodes, %d measured, %v; want %d", g.Len(), len(m.In), err, len(nodes))
		}
		err = g.EachLink(func(l *export.Link) error {
			links = append(links, fmt.Sprintf("%s > %s %d/%d", names[l.From], names[l.To], l.Links, l.Pages))
			return nil
		})
		slices.Sort(nodes)
		slices.Sort(links)
		slices.Sort(tt.nodes)
		if diff := cmp.Diff(tt.nodes, nodes); diff != "" || err != nil {
			t.Errorf("%v; nodes (-want +got):\n%s", err, diff)
		}
		if diff := cmp.Diff(tt.links, links); diff != "" {
			t.Errorf("links (-want +got):\n%s", diff)
		}
	}
}

// In TestCollapsedLinks, what a graph says does not depend on the order in which its pages were found.
func TestCollapsedLinks(t *testing.T) {
	type link struct {
		to string
		schema.Link
	}
	anchor := surveytest.Kinds(schema.LinkAnchor)
	pages := []struct {
		name  string
		hash  schema.SimHash
		links []link
	}{
		{"a.test/one", 0xff00, []link{{"a.test/end", schema.Link{Kinds: anchor, Place: schema.PlaceFooter, Rendered: true}}}},
		{"b.test/x", 0xff01, []link{
			{"a.test/end", schema.Link{Kinds: anchor, Rel: schema.RelNofollow, Place: schema.PlaceNav, Anchor: "Zoo"}},
			{"b.test/", schema.Link{Kinds: anchor, Rel: schema.RelNofollow | schema.RelUGC, Place: schema.PlaceAside}},
		}},
		{"b.test/y", 0xff02, []link{
			{"a.test/end", schema.Link{Kinds: surveytest.Kinds(schema.LinkFrame), Place: schema.PlaceMain, Anchor: "Bus"}},
			{"b.test/", schema.Link{Kinds: anchor, Rel: schema.RelNofollow, Place: schema.PlaceHeader, Rendered: true}},
		}},
		{"a.test/end", 0xabcd << 40, []link{
			{"b.test/x", schema.Link{Kinds: anchor, Place: schema.PlaceBody, Anchor: "Tram"}},
			{"b.test/y", schema.Link{Kinds: anchor, Place: schema.PlaceBody, Anchor: "Car"}},
		}},
		{"b.test/", 0, nil},
	}
	discovered, err := export.ParseClasses([]string{"discovered"})
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		only  export.Classes
		links []string
	}{
		{0, []string{
			`https://a.test/end > https://a.test/one 2/1 anchor "" body "Car" false`,
			`https://a.test/one > https://a.test/end 3/3 anchor "" main "Bus" false`,
			`https://a.test/one > https://b.test/ 2/2 anchor "nofollow" aside "" false`,
		}},
		{discovered, []string{`https://b.test/x > https://b.test/ 2/2 anchor "nofollow" aside "" false`}},
	}
	for range 2 {
		slices.Reverse(pages)
		w := surveytest.New(t, surveytest.Minimal)
		for _, p := range pages {
			w.Depth(p.name, 1, 0)
		}
		for _, p := range pages {
			w.Visit(p.name, func(v *schema.Visit) {
				v.SimHash = p.hash
				for _, l := range p.links {
					l.To = w.Page(l.to)
					v.Links = append(v.Links, l.Link)
				}
				slices.SortFunc(v.Links, func(a, b schema.Link) int { return int(a.To) - int(b.To) })
			})
		}
		for _, tt := range tests {
			g, err := export.New(w.Survey(), export.Options{Collapse: true, Only: tt.only})
			if err != nil {
				t.Fatal(err)
			}
			names, links := map[uint32]string{}, []string(nil)
			err = g.EachNode(func(n *export.Node) error { names[n.ID] = n.Name; return nil })
			if err != nil {
				t.Fatal(err)
			}
			err = g.EachLink(func(l *export.Link) error {
				p := l.Page
				links = append(links, fmt.Sprintf("%s > %s %d/%d %s %q %s %q %t", names[l.From], names[l.To], l.Links, l.Pages,
					p.Kinds.First(), p.Rel, p.Where(), p.Anchor, p.Rendered))
				return nil
			})
			slices.Sort(links)
			if diff := cmp.Diff(tt.links, links); diff != "" || err != nil {
				t.Errorf("%v; links (-want +got):\n%s", err, diff)
			}
		}
	}
}
