package survey

import (
	"cmp"
	"slices"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// far is the level of a page from which no path was found.
const far = 255

// A backSearch finds the number of links from each page to one target page. It goes against the
// direction of the links, one level with each pass over all of them.
type backSearch struct {
	walks     *walks
	graph     *graph
	to        schema.ID
	own       func(schema.ID) bool // the pages of origins that belong to the terrain
	older     bool                 // the depths of the run cannot be used
	level     []uint8              // by id
	moved     *bitset              // of those: reached by a redirect only
	redirects [][2]schema.ID       // from, to; sorted by to
	next      uint8                // the level that is processed next
}

// newBackSearch begins a search for a page along the links of a graph. Redirects add no distance.
func (ws *walks) newBackSearch(g *graph, to schema.ID, own func(schema.ID) bool) *backSearch {
	b := &backSearch{walks: ws, graph: g, to: to, own: own, redirects: g.redirects()}
	slices.SortFunc(b.redirects, func(x, y [2]schema.ID) int { return cmp.Compare(x[1], y[1]) })
	b.level, b.moved = make([]uint8, ws.core.urls()+1), newBitset(ws.core.urls())
	for id := range b.level {
		b.level[id] = far
	}
	b.level[to] = 0
	b.close(0)
	return b
}

// step finds the pages that are one link farther away than those at the next level. It leaves out
// pages from which the path would be too long.
func (b *backSearch) step() error {
	core := b.walks.core
	most := core.cfg.Crawler.MaxDepth - int(b.next)
	for id := schema.ID(1); int(id) < len(b.level); id++ {
		if id%often == 0 && core.live() != nil {
			break
		}
		depth, _ := core.nearest(id)
		if b.level[id] == far && (b.older || int(depth) <= most) && b.leads(id) {
			b.level[id] = b.next + 1
		}
	}
	b.close(b.next + 1)
	b.next++
	return core.live()
}

// leads reports whether a page links to one at the next level.
func (b *backSearch) leads(id schema.ID) bool {
	from, to := b.graph.links(id)
	for at := from; at < to; at++ {
		if b.level[b.graph.at(at)] == b.next && !b.graph.redirect.has(int(at)) {
			return true
		}
	}
	return false
}

// close moves the pages that redirect to the next level, over any number of redirects, to that
// level.
func (b *backSearch) close(level uint8) {
	var work []schema.ID
	for i, r := range b.redirects {
		if b.level[r[1]] == level && (i == 0 || b.redirects[i-1][1] != r[1]) {
			work = append(work, r[1])
		}
	}
	for len(work) > 0 {
		to := work[len(work)-1]
		work = work[:len(work)-1]
		at, _ := slices.BinarySearchFunc(b.redirects, to, func(r [2]schema.ID, to schema.ID) int {
			return cmp.Compare(r[1], to)
		})
		for ; at < len(b.redirects) && b.redirects[at][1] == to; at++ {
			if from := b.redirects[at][0]; b.level[from] == far {
				b.level[from] = level
				b.moved.set(int(from))
				work = append(work, from)
			}
		}
	}
}

// depth returns the distance of the target from an origin that a page belongs to, along the page's
// own links. A redirect of such a page counts as a link.
func (b *backSearch) depth(id schema.ID) uint8 {
	if b.level[id] != far && b.moved.has(int(id)) {
		return b.level[id] + 1
	}
	return b.level[id]
}

// eachCarrying calls f for the visited pages for which in holds, with the links that carry
// depth.
func (ws *walks) eachCarrying(in func(schema.ID) bool, f func(from schema.ID, links []schema.Link)) error {
	if err := ws.findClosed(); err != nil {
		return err
	}
	var buf []schema.Link
	cfg := ws.core.cfg.Crawler
	want := func(from schema.ID) bool { return in(from) && !ws.closedTo(from) }
	return ws.stands.each(want, nil, func(l *kv.Linked) error {
		buf = buf[:0]
		for i := range l.Links {
			if Carries(cfg, l.Links[i], l.NoFollow) {
				buf = append(buf, l.Links[i])
			}
		}
		f(l.URL, buf)
		return nil
	})
}

// closedTo reports whether the class of a page keeps the crawl from visiting it.
func (ws *walks) closedTo(id schema.ID) bool {
	if ws.closed != nil {
		return ws.closed.has(int(id))
	}
	return !ws.hosts.byID[ws.core.store.HostOf(id)].verdict.Class.Visitable()
}

// speakers returns a function that reports whether the links of a page count as its statements.
func (ws *walks) speakers() (func(schema.ID) bool, error) {
	err := ws.findClosed()
	return func(id schema.ID) bool { return ws.core.visitedSince(id) && ws.core.isPage(id) && !ws.closedTo(id) }, err
}

// findClosed finds the pages with such classes from the hosts of all pages and, if URL patterns
// decide about classes, from their URLs.
func (ws *walks) findClosed() error {
	if ws.hostsRead {
		return nil
	}
	err := ws.core.view(func(tx *kv.Tx) error {
		for id := schema.HostID(1); int(id) <= ws.core.store.Hosts(); id++ {
			if _, err := ws.hosts.host(tx, id); err != nil {
				return err
			}
		}
		if !ws.core.scope.HasURLRules() {
			return nil
		}
		ws.closed = newBitset(ws.core.urls())
		return tx.URLs.Each(1, func(u schema.URL) (bool, error) {
			if int(u.ID) > ws.core.urls() {
				return false, nil
			}
			if !ws.core.scope.Classify("https://" + ws.hosts.byID[u.Host].name + u.PathQuery).Class.Visitable() {
				ws.closed.set(int(u.ID))
			}
			return true, ws.core.live()
		})
	})
	ws.hostsRead = err == nil
	return err
}

// olderDepths derives the smallest depth of every page, by id, from all current links.
func (ws *walks) olderDepths() ([]uint8, error) {
	g, err := ws.readGraph(true)
	if err != nil {
		return nil, err
	}
	level := make([]uint8, ws.core.urls()+1)
	for id := 1; id < len(level); id++ {
		level[id] = kv.NoDepth
		host := ws.hosts.byID[ws.core.store.HostOf(schema.ID(id))]
		if len(host.origins) > 0 && ws.core.store.Kind(schema.ID(id)) == schema.KindPage {
			level[id] = 0
		}
	}
	for now := 0; now <= ws.core.cfg.Crawler.MaxDepth; now++ {
		if err := ws.core.live(); err != nil {
			return nil, err
		}
		for id := 1; id < len(level); id++ {
			if int(level[id]) == now {
				g.deepen(level, schema.ID(id))
			}
		}
		g.closeRedirects(level, uint8(now+1))
	}
	return level, nil
}

// deepen gives the targets of a page the level after the page's own, unless they have one.
// Redirects count as links at level 0 only; [graph.closeRedirects] follows the others.
func (g *graph) deepen(level []uint8, id schema.ID) {
	from, to := g.links(id)
	for at := from; at < to; at++ {
		if level[g.at(at)] == kv.NoDepth && (level[id] == 0 || !g.redirect.has(int(at))) {
			level[g.at(at)] = level[id] + 1
		}
	}
}

// closeRedirects gives the targets of redirects at a level the same level, over any number of
// redirects, unless they have one.
func (g *graph) closeRedirects(level []uint8, now uint8) {
	var work []schema.ID
	for id := range level {
		if level[id] == now {
			work = append(work, schema.ID(id))
		}
	}
	for len(work) > 0 {
		id := work[len(work)-1]
		work = work[:len(work)-1]
		from, to := g.links(id)
		for at := from; at < to; at++ {
			if target := g.at(at); g.redirect.has(int(at)) && level[target] == kv.NoDepth {
				level[target] = now
				work = append(work, target)
			}
		}
	}
}
