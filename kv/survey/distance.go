package survey

import (
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// near is the smallest depth of a page and its smallest number of redirects in a
// row.
type near struct{ depth, hops uint8 }

// A distanceSearch finds the distances of all pages, and knows nothing of the order in which
// they were met.
type distanceSearch struct {
	core    *core
	graph   *graph
	origins [][]int
	near    []near // by id
	work    []schema.ID
}

// distances searches what the run recorded for the distances of all pages, by id,
// from the seeds, from what sitemaps name and from what earlier runs left waiting;
// [kv.NoDepth]: the page does not belong to the run.
func (ws *walks) distances() ([]near, error) {
	d, err := ws.newDistanceSearch(ws.core.visited)
	if err == nil {
		err = d.begin(func(id schema.ID) bool { return ws.core.visited(id) && ws.core.ofRun(id) })
	}
	if err == nil {
		err = d.eachTakenUp(func(id schema.ID) { d.relax(id, near{0, 0}) })
	}
	if err != nil {
		return nil, err
	}
	d.settle()
	return d.near, nil
}

// newDistanceSearch is a search over the links of the visited pages for which in holds.
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
		d.near[i] = near{kv.NoDepth, kv.NoDepth}
	}
	return d, nil
}

// begin starts at the seeds, at what other shards have told of, and at what those sitemaps
// name for which in holds.
func (d *distanceSearch) begin(in func(schema.ID) bool) error {
	for id := range d.core.seeds {
		d.relax(id, near{0, 0})
	}
	err := d.core.eachTold(func(id schema.ID, told schema.Inbound) {
		if d.core.isPage(id) && told.Depth != kv.NoDepth {
			d.relax(id, near{told.Depth, told.Hops})
		}
	})
	if err != nil {
		return err
	}
	return d.core.view(func(tx *kv.Tx) error {
		for id := schema.ID(1); int(id) <= d.core.urls(); id++ {
			if d.core.store.Kind(id) != schema.KindSitemap || !in(id) {
				continue
			}
			v, err := tx.Visits.At(d.core.latest(id))
			if err != nil {
				return err
			}
			for _, e := range v.Sitemap {
				if d.own(e.To) { // it may be of a former origin
					d.relax(e.To, near{0, 0})
				}
			}
		}
		return nil
	})
}

// own reports whether a page belongs to an origin.
func (d *distanceSearch) own(id schema.ID) bool { return len(d.origins[d.core.store.HostOf(id)]) > 0 }

func (d *distanceSearch) relax(id schema.ID, n near) {
	if int(id) >= len(d.near) {
		return
	}
	if d.own(id) {
		n.depth = 0
	}
	if int(n.depth) > d.core.cfg.Crawler.MaxDepth+1 {
		return
	}
	best := near{min(n.depth, d.near[id].depth), min(n.hops, d.near[id].hops)}
	if best != d.near[id] {
		d.near[id] = best
		d.work = append(d.work, id)
	}
}

// settle follows the links of pages within reach until nothing comes nearer.
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
			if d.graph.redirect.has(int(at)) {
				d.relax(d.graph.at(at), near{max(1, n.depth), n.hops + 1})
			} else {
				d.relax(d.graph.at(at), near{n.depth + 1, 0})
			}
		}
	}
}
