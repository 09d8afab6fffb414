package export

import (
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

// collapsed returns a function that adds the links between pages to those between nodes and calls f for the links of
// each page that is a node of its own, and a function that calls f for those of the clusters, after all links.
func (g *Graph) collapsed(f func(*Link) error) (add survey.LinkFunc, end func() error) {
	var one joinedLinks // of the page read last
	clusters, order := map[schema.ID]*joinedLinks{}, []schema.ID(nil)
	add = func(from schema.ID, l schema.Link, first, last schema.RunID) error {
		node, to := g.nodeOf(from), g.nodeOf(l.To)
		if node == to || g.rank[node] == 0 || g.rank[to] == 0 {
			return nil
		}
		l.To = to
		if g.into[from] != 0 {
			if clusters[node] == nil {
				clusters[node], order = new(joinedLinks), append(order, node)
			}
			clusters[node].add(NewPageLink(node, &l, first, last), from)
			return nil
		}
		if len(one.links) > 0 && one.links[0].From != uint32(node) {
			if err := one.each(f, g.opts.MinWeight); err != nil {
				return err
			}
		}
		one.add(NewPageLink(node, &l, first, last), from)
		return nil
	}
	return add, func() error {
		if err := one.each(f, g.opts.MinWeight); err != nil {
			return err
		}
		for _, node := range order {
			if err := clusters[node].each(f, g.opts.MinWeight); err != nil {
				return err
			}
		}
		return nil
	}
}

// joinedLinks are the links of one node.
type joinedLinks struct {
	links []Link
	from  []schema.ID    // parallel to links: the last linking page
	at    map[uint32]int // by target: its place in links
}

// add adds a link from a page.
func (j *joinedLinks) add(l Link, from schema.ID) {
	if j.at == nil {
		j.at = map[uint32]int{}
	}
	at, met := j.at[l.To]
	if !met {
		j.at[l.To] = len(j.links)
		j.links, j.from = append(j.links, l), append(j.from, from)
		return
	}
	one := &j.links[at]
	one.Links++
	one.Endorsements += l.Endorsements
	one.SiteWide += l.SiteWide
	if j.from[at] != from {
		j.from[at] = from
		one.Pages++
	}
	one.First, one.Last = min(one.First, l.First), max(one.Last, l.Last)
	one.Page.Kinds |= l.Page.Kinds
	if one.Page.Anchor == "" {
		one.Page.Anchor = l.Page.Anchor
	}
}

// each calls f for the links of a weight, and forgets all.
func (j *joinedLinks) each(f func(*Link) error, least int) error {
	for i := range j.links {
		if j.links[i].Links < least {
			continue
		}
		if err := f(&j.links[i]); err != nil {
			return err
		}
	}
	j.links, j.from = j.links[:0], j.from[:0]
	clear(j.at)
	return nil
}
