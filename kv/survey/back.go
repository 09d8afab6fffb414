package survey

import (
	"fmt"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// far is the level of a page from which no way was found.
const far = 255

// A backSearch finds from how many links away pages lead to one page. It goes against the
// direction of the links, a level with each reading of all of them, and holds a byte for
// every page and the redirects, which lead no further away.
type backSearch struct {
	walks     *walks
	to        schema.ID
	in        func(schema.ID) bool // whose links carry depth
	own       func(schema.ID) bool // which pages of origins belong to these
	older     bool                 // depths of the run say nothing
	level     []uint8              // by id
	moved     *bitset              // of those: only by a redirect
	redirects [][2]schema.ID       // from, to
	next      uint8                // the level that is taken next
}

func (ws *walks) newBackSearch(to schema.ID, in, own func(schema.ID) bool) *backSearch {
	b := &backSearch{walks: ws, to: to, in: in, own: own}
	b.level, b.moved = make([]uint8, ws.core.urls()+1), newBitset(ws.core.urls())
	for id := range b.level {
		b.level[id] = far
	}
	b.level[to] = 0
	return b
}

// step finds the pages that are one link further away than those at the next level. The
// first one learns of the redirects; where some lead to the page itself, it has missed who
// links to these.
func (b *backSearch) step() error {
	note := b.next == 0
	if err := b.read(note); err != nil {
		return err
	}
	if b.close() && note {
		if err := b.read(false); err != nil {
			return err
		}
		b.close()
	}
	b.next++
	return nil
}

// read reads all links for those to pages at the next level, and notes redirects. Pages
// from which the way would be too long are left out.
func (b *backSearch) read(note bool) error {
	most := b.walks.core.cfg.Crawler.MaxDepth - int(b.next)
	in := func(id schema.ID) bool {
		depth, _ := b.walks.core.nearest(id)
		return b.level[id] == far && (note || b.older || int(depth) <= most) && b.in(id)
	}
	return b.walks.eachCarrying(in, func(from schema.ID, links []schema.Link) {
		for i := range links {
			redirect := links[i].Kinds.First() == schema.LinkRedirect
			if redirect && note {
				b.redirects = append(b.redirects, [2]schema.ID{from, links[i].To})
			}
			if !redirect && b.level[links[i].To] == b.next {
				b.level[from] = b.next + 1
			}
		}
	})
}

// close takes those that redirect to a level to it, and reports whether there were any.
func (b *backSearch) close() (any bool) {
	for more := true; more; {
		more = false
		for _, r := range b.redirects {
			if b.level[r[0]] == far && b.level[r[1]] != far {
				b.level[r[0]] = b.level[r[1]]
				b.moved.set(int(r[0]))
				more, any = true, true
			}
		}
	}
	return any
}

// depth returns how far the target is from an origin that a page belongs to, along its own
// links: from there a redirect is as long as a link.
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
	return ws.core.eachStanding(want, func(l *kv.Linked) error {
		from, links := l.URL, l.Links
		if to := links[len(links)-1].To; int(to) > ws.core.urls() {
			return fmt.Errorf("%w: page %d links to URL %d, which its run does not know", kv.ErrDamaged, from, to)
		}
		if cfg.RespectNofollow || !cfg.FollowCanonical {
			buf = buf[:0]
			for i := range links {
				if Carries(cfg, links[i], l.NoFollow) {
					buf = append(buf, links[i])
				}
			}
			links = buf
		}
		f(from, links)
		return nil
	})
}

// closedTo reports whether the class of a page keeps the crawl away from it.
func (ws *walks) closedTo(id schema.ID) bool {
	if ws.closed != nil {
		return ws.closed.has(int(id))
	}
	return !ws.hosts.byID[ws.core.store.HostOf(id)].verdict.Class.Visitable()
}

// findClosed reads the hosts of all pages, and where patterns of URLs decide about their
// classes, these.
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
		if !ws.core.terrain.HasURLRules() {
			return nil
		}
		ws.closed = newBitset(ws.core.urls())
		return tx.URLs.Each(1, func(u schema.URL) (bool, error) {
			if int(u.ID) > ws.core.urls() {
				return false, nil
			}
			if !ws.core.terrain.Classify("https://" + ws.hosts.byID[u.Host].name + u.PathQuery).Class.Visitable() {
				ws.closed.set(int(u.ID))
			}
			return true, ws.core.live()
		})
	})
	ws.hostsRead = err == nil
	return err
}

// olderDepths derives the smallest depth of every page, by id, from all that any run has
// recorded, a level with each reading of all links.
func (ws *walks) olderDepths() ([]uint8, error) {
	level := make([]uint8, ws.core.urls()+1)
	err := ws.findClosed()
	for id := 1; err == nil && id < len(level); id++ {
		level[id] = kv.NoDepth
		host := ws.hosts.byID[ws.core.store.HostOf(schema.ID(id))]
		if len(host.origins) > 0 && ws.core.store.Kind(schema.ID(id)) == schema.KindPage {
			level[id] = 0
		}
	}
	var redirects [][2]schema.ID
	for now := 0; err == nil && now <= ws.core.cfg.Crawler.MaxDepth; now++ {
		in := func(id schema.ID) bool { return now == 0 || int(level[id]) == now }
		err = ws.eachCarrying(in, func(from schema.ID, links []schema.Link) {
			for i := range links {
				redirect := links[i].Kinds.First() == schema.LinkRedirect
				if redirect && now == 0 {
					redirects = append(redirects, [2]schema.ID{from, links[i].To})
				}
				if int(level[from]) == now && level[links[i].To] == kv.NoDepth && (!redirect || now == 0) {
					level[links[i].To] = uint8(now + 1)
				}
			}
		})
		for more := true; more; {
			more = false
			for _, r := range redirects {
				if level[r[0]] != kv.NoDepth && level[r[0]] > 0 && level[r[1]] == kv.NoDepth {
					level[r[1]] = level[r[0]]
					more = true
				}
			}
		}
	}
	return level, err
}
