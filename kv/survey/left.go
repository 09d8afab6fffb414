package survey

import (
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

// EachLeft calls f for the pages that earlier runs left waiting or only know from archives, with a depth and
// whether their own host names them. First come pages of origins that the run has visited, which are at depth 0
// however they were found. Then, by id, come pages that it has neither visited nor reached, if the
// current links bring them within reach and no list or rule refuses them. With sitemaps = "only"
// there are none of the latter, since sitemaps name what is visited.
func EachLeft(s *Survey, f func(id schema.ID, depth uint8, own bool)) error {
	if s.core.firstOfAll() || s.core.imports() {
		return nil
	}
	s.core.taken = true
	defer func() { s.core.taken = false }()
	d, err := s.walks.newDistanceSearch(func(schema.ID) bool { return true })
	if err == nil {
		err = d.begin(func(id schema.ID) bool {
			return s.core.latest(id) != 0 && s.core.cfg.Crawler.Sitemaps != config.SitemapsOff
		})
	}
	if err != nil {
		return err
	}
	d.beginImported(func(id schema.ID) bool { return s.core.latest(id) != 0 && s.core.neverAsked(id) })
	d.settle()
	if err := d.eachTakenUp(func(id schema.ID, own bool) { f(id, 0, own) }); err != nil {
		return err
	}
	return s.core.view(func(tx *kv.Tx) error {
		return tx.URLs.Each(1, func(u schema.URL) (bool, error) {
			if u.Kind != schema.KindPage || !s.core.begunAfter(u.FirstRun) || !s.core.neverAsked(u.ID) || s.core.inRun(u.ID) {
				return true, nil
			}
			if !s.core.reach(d.near[u.ID]) {
				return true, nil
			}
			ok, err := s.hosts.mayVisit(tx, u)
			if ok {
				f(u.ID, d.near[u.ID].depth, d.near[u.ID].own)
			}
			return err == nil, err
		})
	})
}

// eachTakenUp calls f for the pages of origins that earlier runs left waiting and the run of the
// survey has visited, and reports whether their own host named them.
func (d *distanceSearch) eachTakenUp(f func(id schema.ID, own bool)) error {
	if d.core.firstOfAll() {
		return nil
	}
	return d.core.view(func(tx *kv.Tx) error {
		for id := schema.ID(1); int(id) <= d.core.urls(); id++ {
			if d.core.store.Kind(id) != schema.KindPage || !d.core.visited(id) || !d.ofOrigin(id) {
				continue
			}
			v, err := tx.Visits.At(d.core.latest(id))
			if err != nil {
				return err
			}
			if v.Left {
				f(id, v.LeftOwn)
			}
		}
		return nil
	})
}

// mayVisit reports whether neither lists nor rules keep a page from being visited.
func (hs *hosts) mayVisit(tx *kv.Tx, u schema.URL) (bool, error) {
	if ok, err := hs.visitable(tx, u.ID); err != nil || !ok || hs.core.cfg.Crawler.Sitemaps == config.SitemapsOnly {
		return false, err
	}
	_, refused := hs.core.scope.Refuse(hs.byID[u.Host].name, u.PathQuery)
	return !refused, nil
}
