package survey

import (
	"fmt"
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
func (s *Survey) readGraph(all bool) (*graph, error) {
	if s.graph != nil && !all {
		return s.graph, nil
	}
	in := func(schema.ID) bool { return true }
	if !all {
		in = func(id schema.ID) bool { return s.visited(id) && s.within(id) }
	}
	g, err := s.buildGraph(in)
	if err == nil && !all {
		s.graph = g
	}
	return g, err
}

// buildGraph builds the graph of the visited pages for which in holds.
func (s *Survey) buildGraph(in func(schema.ID) bool) (*graph, error) {
	g := &graph{start: make([]uint32, s.URLs()+2)}
	var redirects []int
	err := s.view(func(tx *kv.Tx) error {
		var buf []schema.Link
		for id := schema.ID(1); int(id) <= s.URLs(); id++ {
			g.start[id] = uint32(len(g.to))
			seq := s.latest(id)
			if seq == 0 || s.store.Kind(id) != schema.KindPage || !in(id) {
				continue
			}
			if ok, err := s.visitable(tx, id); err != nil {
				return err
			} else if !ok {
				continue
			}
			nofollow, err := s.asksNofollow(tx, seq)
			if err != nil {
				return err
			}
			if buf, err = s.appendLinks(tx, buf[:0], seq); err != nil {
				return err
			}
			for i := range buf {
				if int(buf[i].To) > s.URLs() {
					return fmt.Errorf("%w: visit %d links to URL %d, which its run does not know", kv.ErrDamaged, seq, buf[i].To)
				}
				if !Carries(s.cfg.Crawler, buf[i], nofollow) {
					continue
				}
				if buf[i].Kinds.First() == schema.LinkRedirect {
					redirects = append(redirects, len(g.to))
				}
				g.to = append(g.to, buf[i].To)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	g.start[len(g.start)-1] = uint32(len(g.to))
	g.redirect = newBitset(len(g.to))
	for _, at := range redirects {
		g.redirect.set(at)
	}
	return g, nil
}

// within reports whether the distances of a page in the run let it be visited.
func (s *Survey) within(id schema.ID) bool {
	depth, hops := s.nearest(id)
	return s.reach(near{depth, hops})
}

// reach reports whether a page at such distances is visited.
func (s *Survey) reach(n near) bool {
	return n.depth != kv.NoDepth && int(n.depth) <= s.cfg.Crawler.MaxDepth && n.hops <= MaxRedirects
}

// asksNofollow reports whether a page asks for its links not to be followed, and
// that is respected.
func (s *Survey) asksNofollow(tx *kv.Tx, seq schema.Seq) (bool, error) {
	if !s.cfg.Crawler.RespectNofollow {
		return false, nil
	}
	v, err := s.standing(tx, seq)
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
func (s *Survey) ownPages(in func(schema.ID) bool) (*members, error) {
	m := &members{hostOf: s.store.HostOf, origins: make([][]int, s.store.Hosts()+1)}
	err := s.view(func(tx *kv.Tx) error {
		return tx.EachHost(1, func(h *schema.Host) (bool, error) {
			m.origins[h.ID] = s.terrain.OriginsOf(h.Name)
			return true, nil
		})
	})
	for id := schema.ID(1); int(id) <= s.URLs(); id++ {
		if s.store.Kind(id) == schema.KindPage && len(m.origins[s.store.HostOf(id)]) > 0 && in(id) {
			m.pages = append(m.pages, id)
		}
	}
	return m, err
}
