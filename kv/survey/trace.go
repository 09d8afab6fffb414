package survey

import (
	"cmp"
	"slices"

	"github.com/sumi-ripple/ripple/schema"
)

// A start is the pages of an origin, by id, from which the path is shortest.
type start struct {
	origin int
	depth  uint8
	pages  []schema.ID
}

// find finds the nearest origins: at most limit, by depth and then by their number.
func (b *backSearch) find(limit int) ([]start, error) {
	most := min(limit, len(b.walks.core.scope.Origins()))
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

// eachStart calls f for the pages of origins from which a path is known.
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

// nearest returns the origins from which the steps so far have found the shortest path.
func (b *backSearch) nearest() []start {
	depth := make([]uint8, len(b.walks.core.scope.Origins()))
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

// collect records the pages at which paths from origins begin.
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

// trace follows the links from the pages of a start, each to pages that are one link nearer, and
// returns the pages of a path. Of several paths it returns the one over the pages that were met
// first.
func (b *backSearch) trace(s start) []schema.ID {
	t := &tracer{backSearch: b, origin: s.origin, left: s.depth, now: s.pages, parent: map[schema.ID]schema.ID{}}
	for t.left > 0 {
		t.follow(t.left == s.depth)
	}
	ids := []schema.ID{b.to}
	for at := t.parent[b.to]; at != 0; at = t.parent[at] {
		ids = append(ids, at)
	}
	slices.Reverse(ids)
	return ids
}

// A tracer follows the links that a search has followed backwards.
type tracer struct {
	*backSearch
	origin int
	left   uint8       // links that lead from now to the target
	now    []schema.ID // in order of precedence
	parent map[schema.ID]schema.ID
}

// follow follows one more link, and then redirects. The origin's own pages come first, and their
// redirects count as links.
func (t *tracer) follow(own bool) {
	var next []schema.ID
	for _, id := range t.now {
		from, to := t.graph.links(id)
		for at := from; at < to; at++ {
			if (own || !t.graph.redirect.has(int(at))) && t.adopts(id, t.graph.at(at), t.left-1) {
				next = append(next, t.graph.at(at))
			}
		}
		if t.parent[t.to] != 0 { // the first parent counts
			break
		}
	}
	slices.Sort(next)
	t.now = next
	t.left--
	t.redirect()
}

// redirect adds the targets of redirects of the pages in now, which are as near.
func (t *tracer) redirect() {
	work := slices.Clone(t.now)
	for len(work) > 0 && t.parent[t.to] == 0 {
		id := work[len(work)-1]
		work = work[:len(work)-1]
		from, to := t.graph.links(id)
		for at := from; at < to; at++ {
			if target := t.graph.at(at); t.graph.redirect.has(int(at)) && t.adopts(id, target, t.left) {
				t.now, work = append(t.now, target), append(work, target)
			}
		}
	}
}

// adopts records from as the parent of to, if to is at the level, has no parent yet and does not
// belong to the origin.
func (t *tracer) adopts(from, to schema.ID, level uint8) bool {
	if t.level[to] != level || t.parent[to] != 0 {
		return false
	}
	if slices.Contains(t.walks.hosts.byID[t.walks.core.store.HostOf(to)].origins, t.origin) {
		return false
	}
	t.parent[to] = from
	return true
}
