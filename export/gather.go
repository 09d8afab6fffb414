package export

import (
	"cmp"
	"slices"

	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// A LinkReader calls a function for the links on some pages, in the order of the pages, as
// [survey.Links.EachOf] does.
type LinkReader func(pages []schema.ID, f survey.LinkFunc) error

// EachLink calls each for the links between different nodes, in the order of their ends. A link is
// valid only during the call. An error from each ends the iteration. Pages are read node by node, so
// memory use is four bytes per page plus the links of one node.
func (f *Fold) EachLink(read LinkReader, each func(*Link) error) error {
	pages, ends := f.members()
	g := gathering{fold: f, at: make([]uint32, len(f.nodes))}
	for g.node = 1; int(g.node) < len(f.nodes); g.node++ {
		own := pages[ends[g.node-1]:ends[g.node]]
		if len(own) == 0 {
			continue
		}
		if err := read(own, g.add); err != nil {
			return err
		}
		if err := g.end(each); err != nil {
			return err
		}
	}
	return nil
}

// Links returns the links in the order of their ends.
func (f *Fold) Links(read LinkReader) (links []Link, err error) {
	err = f.EachLink(read, func(l *Link) error {
		links = append(links, *l)
		return nil
	})
	return links, err
}

// members returns the pages sorted by node; the pages of a node end at ends[node].
func (f *Fold) members() (pages []schema.ID, ends []int) {
	ends = make([]int, len(f.nodes)+1)
	last := schema.ID(f.survey.URLs())
	for id := schema.ID(1); id <= last; id++ {
		ends[f.Node(id)+1]++
	}
	for node := 1; node < len(ends); node++ {
		ends[node] += ends[node-1]
	}
	pages = make([]schema.ID, last)
	for id := schema.ID(1); id <= last; id++ {
		at := &ends[f.Node(id)]
		pages[*at] = id
		*at++
	}
	return pages, ends
}

// A gathering aggregates the links of one node after the other.
type gathering struct {
	fold  *Fold
	node  uint32
	at    []uint32 // by target: index of its link plus 1; 0: none
	links []Link
	page  []schema.ID // parallel to links: the last linking page
}

// add adds a link between pages.
func (g *gathering) add(from schema.ID, l schema.Link, first, last schema.RunID) error {
	to := g.fold.Node(l.To)
	if to == g.node {
		return nil
	}
	if g.at[to] == 0 {
		g.links, g.page = append(g.links, Link{From: g.node, To: to, First: first}), append(g.page, 0)
		g.at[to] = uint32(len(g.links))
	}
	i := g.at[to] - 1
	one := &g.links[i]
	one.Links++
	if g.page[i] != from {
		g.page[i] = from
		one.Pages++
	}
	if l.Endorses() {
		one.Endorsements++
	}
	if l.SiteWide {
		one.SiteWide++
	}
	one.First, one.Last = min(one.First, first), max(one.Last, last)
	return nil
}

// end calls f for the links of the node and resets the gathering.
func (g *gathering) end(f func(*Link) error) error {
	slices.SortFunc(g.links, func(a, b Link) int { return cmp.Compare(a.To, b.To) })
	for i := range g.links {
		g.at[g.links[i].To] = 0
		if err := f(&g.links[i]); err != nil {
			return err
		}
	}
	g.links, g.page = g.links[:0], g.page[:0]
	return nil
}
