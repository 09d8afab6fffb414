package survey

import (
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// A graph is the links that carry depth, as arrays: those of page id are
// to[start[id]:start[id+1]].
type graph struct {
	start    []uint32
	to       []schema.ID
	redirect *bitset // by position in to
}

// readGraph builds the graph of the pages that carry depth: those that the
// run has visited, with all set those that any run has, but for pages that a list
// which came later keeps the crawl away from.
func (ws *walks) readGraph(all bool) (*graph, error) {
	if ws.graph != nil && !all {
		return ws.graph, nil
	}
	in := func(schema.ID) bool { return true }
	if !all {
		in = func(id schema.ID) bool { return ws.core.visited(id) && ws.core.within(id) }
	}
	g, err := ws.buildGraph(in)
	if err == nil && !all {
		ws.graph = g
	}
	return g, err
}

// buildGraph builds the graph of the visited pages for which in holds. It reads the log
// twice: to count links, and to take them.
func (ws *walks) buildGraph(in func(schema.ID) bool) (*graph, error) {
	g := &graph{start: make([]uint32, ws.core.urls()+2)}
	err := ws.eachCarrying(in, func(from schema.ID, links []schema.Link) { g.start[from+1] = uint32(len(links)) })
	if err != nil {
		return nil, err
	}
	for id := 1; id < len(g.start); id++ {
		g.start[id] += g.start[id-1]
	}
	links := g.start[len(g.start)-1]
	g.to, g.redirect = make([]schema.ID, links), newBitset(int(links))
	err = ws.eachCarrying(in, func(from schema.ID, links []schema.Link) {
		for i := range links {
			at := int(g.start[from]) + i
			if g.to[at] = links[i].To; links[i].Kinds.First() == schema.LinkRedirect {
				g.redirect.set(at)
			}
		}
	})
	return g, err
}

// asksNofollow reports whether a page asks for its links not to be followed, and
// that is respected.
func (ws *walks) asksNofollow(tx *kv.Tx, seq schema.Seq) (bool, error) {
	if !ws.core.cfg.Crawler.RespectNofollow {
		return false, nil
	}
	v, err := ws.core.standing(tx, seq)
	return err == nil && v.NoFollow, err
}

// links returns the positions of a page's links.
func (g *graph) links(id schema.ID) (from, to uint32) { return g.start[id], g.start[id+1] }

// members are the pages that belong to a terrain, with the origins of each host.
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
			origins[h.ID] = ws.core.terrain.OriginsOf(h.Name)
			return true, nil
		})
	})
	return origins, err
}
