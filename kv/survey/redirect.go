package survey

import (
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// followRedirects counts the recorded redirects that begin at a page, as far as
// they lead to pages that they have not passed.
func (s *Survey) followRedirects(tx *kv.Tx, p *Page) error {
	if p.RedirectTo == 0 {
		return nil
	}
	passed := [MaxRedirects + 2]schema.ID{p.ID}
	to := p.RedirectTo
	for n := 1; ; n++ {
		for _, id := range passed[:n] {
			if id == to {
				p.RedirectCount, p.loops = n, true
				return nil
			}
		}
		p.RedirectCount = n
		if n > MaxRedirects {
			return nil
		}
		passed[n] = to
		var err error
		if to, err = s.redirectOf(tx, to); err != nil || to == 0 {
			return err
		}
	}
}

// redirectOf returns where a page redirects to; 0: nowhere.
func (s *Survey) redirectOf(tx *kv.Tx, id schema.ID) (schema.ID, error) {
	if to, ok := s.next[id]; ok {
		return to, nil
	}
	to, err := s.readRedirect(tx, id)
	if err == nil {
		s.next[id] = to
	}
	return to, err
}

func (s *Survey) readRedirect(tx *kv.Tx, id schema.ID) (schema.ID, error) {
	seq := s.latest(id)
	if seq == 0 || !s.isPage(id) {
		return 0, nil
	}
	if ok, err := s.visitable(tx, id); err != nil || !ok {
		return 0, err
	}
	v, err := tx.Visit(seq)
	if err != nil || v.State != schema.Processed || !s.isPage(v.RedirectTo) {
		return 0, err
	}
	return v.RedirectTo, nil
}

// visitable reports whether the class of a page lets it be visited.
func (s *Survey) visitable(tx *kv.Tx, id schema.ID) (bool, error) {
	h, err := s.host(tx, s.store.HostOf(id))
	if err != nil || !s.terrain.HasURLRules() {
		return err == nil && h.verdict.Class.Visitable(), err
	}
	norm, err := tx.Norm(id)
	return err == nil && s.terrain.Classify(norm).Class.Visitable(), err
}
