package survey

import (
	"cmp"
	"errors"
	"slices"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// A start is the pages of an origin from which the way is shortest, by id.
type start struct {
	origin int
	depth  uint8
	pages  []schema.ID
}

// find finds the nearest origins: at most limit, by depth and then by their number.
func (b *backSearch) find(limit int) ([]start, error) {
	if err := b.walks.findClosed(); err != nil {
		return nil, err
	}
	most := min(limit, len(b.walks.core.terrain.Origins()))
	found := b.nearest()
	for len(found) < most && int(b.next) <= b.walks.core.cfg.Crawler.MaxDepth {
		if err := b.step(); err != nil {
			return nil, err
		}
		found = b.nearest()
	}
	found = found[:min(most, len(found))]
	b.collect(found)
	return found, nil
}

// eachStart calls f for the pages of origins from which a way is known.
func (b *backSearch) eachStart(f func(id schema.ID, origins []int, depth uint8)) {
	core, hosts := b.walks.core, b.walks.hosts
	for id := schema.ID(1); int(id) <= core.urls(); id++ {
		if b.level[id] == far || b.depth(id) > b.next || core.store.Kind(id) != schema.KindPage {
			continue
		}
		if origins := hosts.byID[core.store.HostOf(id)].origins; len(origins) > 0 && b.own(id) {
			f(id, origins, b.depth(id))
		}
	}
}

// nearest returns the origins from which the steps so far have found the shortest way.
func (b *backSearch) nearest() []start {
	depth := make([]uint8, len(b.walks.core.terrain.Origins()))
	for i := range depth {
		depth[i] = far
	}
	b.eachStart(func(_ schema.ID, origins []int, d uint8) {
		for _, o := range origins {
			depth[o] = min(depth[o], d)
		}
	})
	var found []start
	for o, d := range depth {
		if d != far {
			found = append(found, start{origin: o, depth: d})
		}
	}
	slices.SortStableFunc(found, func(a, b start) int { return cmp.Compare(a.depth, b.depth) })
	return found
}

// collect notes the pages with which ways from origins begin.
func (b *backSearch) collect(found []start) {
	at := make(map[int]*start, len(found))
	for i := range found {
		at[found[i].origin] = &found[i]
	}
	b.eachStart(func(id schema.ID, origins []int, d uint8) {
		for _, o := range origins {
			if s := at[o]; s != nil && s.depth == d {
				s.pages = append(s.pages, id)
			}
		}
	})
}

// trace follows the links from the pages of a start, each to pages that are one link
// nearer, and returns the pages of a way. Of several ways it is the one over the pages that
// were met first.
func (b *backSearch) trace(s start) ([]schema.ID, error) {
	t := &tracer{backSearch: b, origin: s.origin, left: s.depth, now: s.pages, parent: map[schema.ID]schema.ID{}}
	err := b.walks.core.view(func(tx *kv.Tx) error {
		t.tx = tx
		for t.left > 0 {
			if err := t.follow(t.left == s.depth); err != nil {
				return err
			}
		}
		return nil
	})
	ids := []schema.ID{b.to}
	for at := t.parent[b.to]; at != 0; at = t.parent[at] {
		ids = append(ids, at)
	}
	slices.Reverse(ids)
	return ids, err
}

// A tracer goes along the links that a search has gone against.
type tracer struct {
	*backSearch
	tx     *kv.Tx
	origin int
	left   uint8       // links that lead from now to the target
	now    []schema.ID // in the order in which they count
	parent map[schema.ID]schema.ID
	buf    []schema.Link
}

// follow goes one link further, and then along redirects. The origin's own pages, which
// come first, redirect as they link.
func (t *tracer) follow(own bool) error {
	var next []schema.ID
	for _, id := range t.now {
		if err := t.links(id); err != nil {
			return err
		}
		for _, l := range t.buf {
			if (own || l.Kinds.First() != schema.LinkRedirect) && t.adopts(id, l.To, t.left-1) {
				next = append(next, l.To)
			}
		}
		if t.parent[t.to] != 0 { // nobody who comes later counts
			break
		}
	}
	slices.Sort(next)
	t.now = next
	t.left--
	return t.redirect()
}

// redirect adds the pages that those of now redirect to, which are as near.
func (t *tracer) redirect() error {
	work := slices.Clone(t.now)
	for len(work) > 0 && t.parent[t.to] == 0 {
		id := work[len(work)-1]
		work = work[:len(work)-1]
		if err := t.links(id); err != nil {
			return err
		}
		for _, l := range t.buf {
			if l.Kinds.First() == schema.LinkRedirect && t.adopts(id, l.To, t.left) {
				t.now, work = append(t.now, l.To), append(work, l.To)
			}
		}
	}
	return nil
}

// adopts notes that a way to a page leads over another, if the page is at a level and
// neither has one yet nor belongs to the origin.
func (t *tracer) adopts(from, to schema.ID, level uint8) bool {
	if int(to) >= len(t.level) || t.level[to] != level || t.parent[to] != 0 {
		return false
	}
	if slices.Contains(t.walks.hosts.byID[t.walks.core.store.HostOf(to)].origins, t.origin) {
		return false
	}
	t.parent[to] = from
	return true
}

// links reads the links of a page that carry depth.
func (t *tracer) links(id schema.ID) error {
	core := t.walks.core
	seq := core.latest(id)
	t.buf = t.buf[:0]
	if seq == 0 || !t.in(id) || t.walks.closedTo(id) {
		return core.live()
	}
	nofollow, err := t.walks.asksNofollow(t.tx, seq)
	if err != nil {
		return err
	}
	t.buf, err = core.appendLinks(t.tx, t.buf, seq)
	t.buf = slices.DeleteFunc(t.buf, func(l schema.Link) bool { return !Carries(core.cfg.Crawler, l, nofollow) })
	return errors.Join(err, core.live())
}
