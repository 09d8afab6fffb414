package survey

import (
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// near is the smallest depth of a page, its smallest number of consecutive redirects, and whether
// its own host names it.
type near struct {
	depth, hops uint8
	own         bool
}

// A distanceSearch finds the distances of all pages, independent of the order in which they were
// found.
type distanceSearch struct {
	core    *core
	graph   *graph
	origins [][]int
	near    []near // by id
	work    []schema.ID
}

// distances derives the distances of all pages, by id, from what the run recorded: from the seeds,
// from sitemaps, and from pages that earlier runs left waiting. [kv.NoDepth]: the page does not
// belong to the run.
func (ws *walks) distances() ([]near, error) {
	d, err := ws.newDistanceSearch(ws.core.visited)
	if err == nil {
		err = d.begin(func(id schema.ID) bool { return ws.core.visited(id) && ws.core.ofRun(id) })
	}
	if err == nil {
		err = d.eachTakenUp(func(id schema.ID, own bool) { d.relax(id, near{own: own}) })
	}
	if err != nil {
		return nil, err
	}
	if ws.core.imports() {
		d.beginImported(ws.core.visited)
	}
	d.settle()
	return d.near, nil
}

// newDistanceSearch returns a search over the links of the visited pages for which in holds.
func (ws *walks) newDistanceSearch(in func(schema.ID) bool) (*distanceSearch, error) {
	g, err := ws.buildGraph(in)
	if err != nil {
		return nil, err
	}
	own, err := ws.ownPages(func(schema.ID) bool { return true })
	if err != nil {
		return nil, err
	}
	d := &distanceSearch{core: ws.core, graph: g, origins: own.origins, near: make([]near, ws.core.urls()+1)}
	for i := range d.near {
		d.near[i] = near{depth: kv.NoDepth, hops: kv.NoDepth}
	}
	return d, nil
}

// begin starts at the seeds, at the URLs reported by other shards, and at the URLs of sitemaps for
// which in holds.
func (d *distanceSearch) begin(in func(schema.ID) bool) error {
	for id := range d.core.seeds {
		d.relax(id, near{own: true})
	}
	err := d.core.eachTold(func(id schema.ID, told schema.Inbound) {
		if d.core.isPage(id) && told.Depth != kv.NoDepth {
			d.relax(id, near{told.Depth, told.Hops, told.Own})
		}
	})
	if err != nil {
		return err
	}
	return d.core.eachListed(in, func(id schema.ID, own bool) { d.relax(id, near{own: own}) })
}

// beginImported starts at the pages of origins for which in holds: an archive need not know how they were found.
func (d *distanceSearch) beginImported(in func(schema.ID) bool) {
	for id := schema.ID(1); int(id) <= d.core.urls(); id++ {
		if d.core.isPage(id) && d.ofOrigin(id) && in(id) {
			d.relax(id, near{own: true})
		}
	}
}

// ofOrigin reports whether a page belongs to an origin.
func (d *distanceSearch) ofOrigin(id schema.ID) bool {
	return len(d.origins[d.core.store.HostOf(id)]) > 0
}

func (d *distanceSearch) relax(id schema.ID, n near) {
	if int(id) >= len(d.near) {
		return
	}
	if d.ofOrigin(id) {
		n.depth = 0
	}
	if int(n.depth) > d.core.cfg.Crawler.MaxDepth+1 {
		return
	}
	old := d.near[id]
	best := near{min(n.depth, old.depth), min(n.hops, old.hops), n.own || old.own || d.core.store.Front(id)}
	if best != d.near[id] {
		d.near[id] = best
		d.work = append(d.work, id)
	}
}

// settle follows the links of pages within reach until no distance decreases.
func (d *distanceSearch) settle() {
	for len(d.work) > 0 {
		id := d.work[len(d.work)-1]
		d.work = d.work[:len(d.work)-1]
		n := d.near[id]
		if !d.core.reach(n) {
			continue
		}
		from, to := d.graph.links(id)
		for at := from; at < to; at++ {
			target := near{depth: n.depth + 1, own: d.makesOwn(id, n.own, d.graph.at(at))}
			if d.graph.redirect.has(int(at)) {
				target.depth, target.hops = max(1, n.depth), n.hops+1
			}
			d.relax(d.graph.at(at), target)
		}
	}
}

// makesOwn reports whether a link of a page counts as its target's host naming the target: on the
// same host if the page itself is named by it, on a host of no origin if the page belongs to one.
func (d *distanceSearch) makesOwn(id schema.ID, own bool, to schema.ID) bool {
	if int(to) >= len(d.near) {
		return false
	}
	if d.core.store.HostOf(id) == d.core.store.HostOf(to) {
		return own
	}
	return d.ofOrigin(id) && !d.ofOrigin(to)
}
