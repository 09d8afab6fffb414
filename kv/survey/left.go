package survey

import (
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

// EachLeft calls f for the pages that earlier runs left waiting (SPEC 9), with a depth.
// First for those of origins that the run has visited, which are at depth 0
// however they were found; then, by id, for those that it has neither visited nor
// reached, as far as the links that stand bring them within reach and no list or rule
// refuses them. With sitemaps = "only" there are none of these, since sitemaps name
// what is visited.
func (s *Survey) EachLeft(f func(id schema.ID, depth uint8)) error {
	if s.run.ID == 1 {
		return nil
	}
	d, err := s.newSearch(func(schema.ID) bool { return true })
	if err == nil {
		err = d.enter(func(id schema.ID) bool { return s.latest(id) != 0 && s.cfg.Crawler.Sitemaps != config.SitemapsOff })
	}
	if err != nil {
		return err
	}
	d.settle()
	if err := d.eachEntered(func(id schema.ID) { f(id, 0) }); err != nil {
		return err
	}
	return s.view(func(tx *kv.Tx) error {
		return tx.EachURL(1, func(u schema.URL) (bool, error) {
			if u.Kind != schema.KindPage || u.FirstRun >= s.run.ID || s.latest(u.ID) != 0 || s.inRun(u.ID) || !s.reach(d.near[u.ID]) {
				return true, nil
			}
			ok, err := s.admitted(tx, u)
			if ok {
				f(u.ID, d.near[u.ID].depth)
			}
			return err == nil, err
		})
	})
}

// eachEntered calls f for the pages of origins that earlier runs left waiting and the
// run of the survey has visited.
func (d *search) eachEntered(f func(schema.ID)) error {
	if d.run.ID == 1 {
		return nil
	}
	return d.view(func(tx *kv.Tx) error {
		for id := schema.ID(1); int(id) <= d.URLs(); id++ {
			if d.store.Kind(id) != schema.KindPage || !d.visited(id) || !d.own(id) {
				continue
			}
			v, err := tx.Visit(d.latest(id))
			if err != nil {
				return err
			}
			if v.Left {
				f(id)
			}
		}
		return nil
	})
}

// admitted reports whether neither lists nor rules keep a page from being visited.
func (s *Survey) admitted(tx *kv.Tx, u schema.URL) (bool, error) {
	if ok, err := s.visitable(tx, u.ID); err != nil || !ok || s.cfg.Crawler.Sitemaps == config.SitemapsOnly {
		return false, err
	}
	_, refused := s.terrain.Refuse(s.hosts[u.Host].name, u.PathQuery)
	return !refused, nil
}

// waitsSince reports whether an earlier run left a page waiting that the run has
// not reached yet: it stands in a line, or waits for another try, without a depth. Of
// an older run that is not known any more.
func (s *Survey) waitsSince(tx *kv.Tx, id schema.ID) (bool, error) {
	if s.run.ID == 1 || s.past != nil || s.inRun(id) || s.latest(id) != 0 {
		return false, nil
	}
	if s.left != nil {
		return s.left.has(int(id)), nil
	}
	left := newBitset(s.store.URLs())
	err := tx.EachHost(1, func(h *schema.Host) (bool, error) {
		if h.Run == s.run.ID {
			for _, r := range h.Retries {
				left.set(int(r.URL))
			}
		}
		return true, tx.Walk(h, func(_ uint8, id schema.ID) bool { left.set(int(id)); return true })
	})
	if err == nil {
		s.left = left
	}
	return err == nil && left.has(int(id)), err
}
