package export

import (
	"slices"

	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// collapse makes the selected pages of each cluster of near-duplicates one node: that of the page which represents the
// cluster or, if this one is not selected, of the next. It changes the ranks.
func (g *Graph) collapse() error {
	found, err := g.survey.Duplicates()
	if err != nil {
		return err
	}
	g.into = make([]schema.ID, len(g.rank))
	for _, cluster := range found.Clusters() {
		node := schema.ID(0)
		for _, p := range cluster {
			if g.rank[p.ID] == 0 {
				continue
			}
			if node == 0 {
				node = p.ID
			}
			g.into[p.ID] = node
			if of := g.rank[p.ID] - 1; g.origins[of] {
				g.origins[g.rank[node]-1] = true
			}
		}
	}
	origins := g.origins[:0]
	for id := range g.rank {
		if g.rank[id] == 0 {
			continue
		}
		if node := g.into[id]; node != 0 && node != schema.ID(id) {
			g.rank[id] = 0
			continue
		}
		origins = append(origins, g.origins[g.rank[id]-1])
		g.rank[id] = uint32(len(origins))
	}
	g.origins, g.count = origins, len(origins)
	return nil
}

// nodeOf returns the page whose node a page belongs to.
func (g *Graph) nodeOf(page schema.ID) schema.ID {
	if g.into == nil || g.into[page] == 0 {
		return page
	}
	return g.into[page]
}

// joined calls f for the links between nodes at page level: first the links of single pages, from each; then the links
// of collapsed clusters, one cluster at a time, from of. It holds the links of one node in memory.
func (g *Graph) joined(each func(survey.LinkFunc) error, of func([]schema.ID, survey.LinkFunc) error,
	f func(*Link) error) error {
	if g.into == nil {
		return each(g.within(f))
	}
	var one joinedLinks
	add := func(from schema.ID, l schema.Link, first, last schema.RunID) error {
		node, to := g.nodeOf(from), g.nodeOf(l.To)
		if node == to || g.rank[node] == 0 || g.rank[to] == 0 {
			return nil
		}
		if len(one.links) > 0 && one.links[0].from != uint32(node) {
			if err := one.each(f, g.opts.MinWeight); err != nil {
				return err
			}
		}
		l.To = to
		one.add(NewPageLink(node, &l, first, last), from)
		return nil
	}
	err := each(func(from schema.ID, l schema.Link, first, last schema.RunID) error {
		if g.into[from] != 0 {
			return nil
		}
		return add(from, l, first, last)
	})
	if err != nil {
		return err
	}
	pages, err := g.collapsedPages()
	if err != nil {
		return err
	}
	if err := of(pages, add); err != nil {
		return err
	}
	return one.each(f, g.opts.MinWeight)
}

// collapsedPages returns the pages of the clusters that were collapsed, cluster by cluster, and those of each by id.
func (g *Graph) collapsedPages() (pages []schema.ID, err error) {
	found, err := g.survey.Duplicates()
	if err != nil {
		return nil, err
	}
	for _, cluster := range found.Clusters() {
		begin := len(pages)
		for _, p := range cluster {
			if g.into[p.ID] != 0 {
				pages = append(pages, p.ID)
			}
		}
		slices.Sort(pages[begin:])
	}
	return pages, nil
}

// joinedLinks are the links of one node. What they say does not depend on their order.
type joinedLinks struct {
	links []joinedLink
	at    map[uint32]uint32 // by target: its place in links
}

// A joinedLink is a link between two nodes, of which one may be a cluster.
type joinedLink struct {
	pair
	page     uint32 // the last that links
	anchor   string // the first in alphabetical order; empty: none has one
	kinds    schema.Kinds
	rel      schema.Rel   // that all carry
	place    schema.Place // the best
	rendered bool         // all need scripts
}

// add adds a link from a page, all of whose links follow each other.
func (j *joinedLinks) add(l Link, page schema.ID) {
	if j.at == nil {
		j.at = map[uint32]uint32{}
	}
	at, met := j.at[l.To]
	if !met {
		j.at[l.To] = uint32(len(j.links))
		j.links = append(j.links, joinedLink{
			newPair(&l), uint32(page), l.Page.Anchor, l.Page.Kinds, l.Page.Rel, l.Page.Place, l.Page.Rendered,
		})
		return
	}
	one := &j.links[at]
	one.links++
	one.endorsements += uint32(l.Endorsements)
	one.siteWide += uint32(l.SiteWide)
	if one.page != uint32(page) {
		one.page = uint32(page)
		one.pages++
	}
	one.first, one.last = min(one.first, l.First), max(one.last, l.Last)
	one.kinds |= l.Page.Kinds
	one.rel &= l.Page.Rel
	one.place = min(one.place, l.Page.Place)
	one.rendered = one.rendered && l.Page.Rendered
	if anchor := l.Page.Anchor; one.anchor == "" || anchor != "" && anchor < one.anchor {
		one.anchor = anchor
	}
}

// each calls f for the links of a weight, and forgets all.
func (j *joinedLinks) each(f func(*Link) error, least int) error {
	var body schema.Link
	for i := range j.links {
		one := &j.links[i]
		if int(one.links) < least {
			continue
		}
		body = schema.Link{
			To: schema.ID(one.to), Kinds: one.kinds, Rel: one.rel, Place: one.place, Anchor: one.anchor, Rendered: one.rendered,
			SiteWide: one.siteWide > 0,
		}
		l := one.link()
		l.Page = &body
		if err := f(&l); err != nil {
			return err
		}
	}
	j.links = j.links[:0]
	clear(j.at)
	return nil
}
