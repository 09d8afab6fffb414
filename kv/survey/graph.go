package survey

import (
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// A graph holds the links that carry depth, page by page in the order in which they were written:
// their number, then their targets.
type graph struct {
	start    []uint32      // by id: position of that number; 0: the page has no links
	blocks   [][]schema.ID // the entries, graphBlock in each
	places   uint32
	redirect *bitset // by position
}

const graphBlock = 1 << 16

// readGraph is newGraph, but keeps the graph of the run.
func (ws *walks) readGraph(all bool) (*graph, error) {
	g, err := ws.newGraph(all)
	if err == nil && !all {
		ws.graph = g
	}
	return g, err
}

// newGraph builds the graph of the pages that carry depth, unless it is kept. These are the pages
// that the run has visited, or with all set those with current links, except pages that a list
// added later excludes.
func (ws *walks) newGraph(all bool) (*graph, error) {
	switch {
	case all:
		return ws.buildGraph(ws.core.speaks)
	case ws.graph != nil:
		return ws.graph, nil
	}
	return ws.buildGraph(func(id schema.ID) bool { return ws.core.visited(id) && ws.core.within(id) })
}

// buildGraph builds the graph of the visited pages for which in holds.
func (ws *walks) buildGraph(in func(schema.ID) bool) (*graph, error) {
	g := &graph{start: make([]uint32, ws.core.urls()+1), redirect: newBitset(0)}
	g.add(0)
	err := ws.eachCarrying(in, func(from schema.ID, links []schema.Link) {
		g.start[from] = g.places
		g.add(schema.ID(len(links)))
		for i := range links {
			if links[i].Kinds.First() == schema.LinkRedirect {
				g.redirect.grow(int(g.places))
				g.redirect.set(int(g.places))
			}
			g.add(links[i].To)
		}
	})
	g.redirect.grow(int(g.places))
	return g, err
}

// add fills the next position.
func (g *graph) add(id schema.ID) {
	if g.places%graphBlock == 0 {
		g.blocks = append(g.blocks, make([]schema.ID, graphBlock))
	}
	g.blocks[g.places/graphBlock][g.places%graphBlock] = id
	g.places++
}

// at returns the entry at a position.
func (g *graph) at(place uint32) schema.ID { return g.blocks[place/graphBlock][place%graphBlock] }

// links returns the positions of a page's links: from the first to before the second.
func (g *graph) links(id schema.ID) (from, to uint32) {
	at := g.start[id]
	if at == 0 {
		return 0, 0
	}
	return at + 1, at + 1 + uint32(g.at(at))
}

// redirects returns the redirects, each with its page, sorted by that page.
func (g *graph) redirects() (all [][2]schema.ID) {
	for id := range schema.ID(len(g.start)) {
		for at, to := g.links(id); at < to; at++ {
			if g.redirect.has(int(at)) {
				all = append(all, [2]schema.ID{id, g.at(at)})
			}
		}
	}
	return all
}

// members are the pages that belong to origins, with the origins of each host.
type members struct {
	hostOf  func(schema.ID) schema.HostID
	origins [][]int // by host
	pages   []schema.ID
}

// ownPages returns the pages of origins for which in holds.
func (ws *walks) ownPages(in func(schema.ID) bool) (*members, error) {
	origins, err := ws.originsOfHosts()
	if err != nil {
		return nil, err
	}
	m := &members{hostOf: ws.core.store.HostOf, origins: origins}
	for id := schema.ID(1); int(id) <= ws.core.urls(); id++ {
		if ws.core.store.Kind(id) == schema.KindPage && len(m.origins[ws.core.store.HostOf(id)]) > 0 && in(id) {
			m.pages = append(m.pages, id)
		}
	}
	return m, nil
}

// originsOfHosts returns the origins that each host belongs to, by host.
func (ws *walks) originsOfHosts() ([][]int, error) {
	origins := make([][]int, ws.core.store.Hosts()+1)
	err := ws.core.view(func(tx *kv.Tx) error {
		return tx.Hosts.Each(1, func(h *schema.Host) (bool, error) {
			origins[h.ID] = ws.core.scope.OriginsOf(h.Name)
			return true, nil
		})
	})
	return origins, err
}
