package scaletest

import (
	"slices"

	"github.com/sumi-ripple/ripple/schema"
)

// links invents the links of a page: first to new pages, as many as the terrain needs to reach its
// size; then those on every page of the host; then any others.
func (m *maker) links(v *schema.Visit, s *site) error {
	kinds := schema.Kinds(0).Add(schema.LinkAnchor)
	add := func(id schema.ID, place schema.Place) {
		if id == v.URL || slices.ContainsFunc(v.Links, func(l schema.Link) bool { return l.To == id }) {
			return
		}
		v.Links = append(v.Links, schema.Link{To: id, Kinds: kinds, Place: place, Anchor: m.text(2)})
	}
	for n := m.fresh(); n > 0; n-- {
		id, err := m.meet(m.freshHost(s), v.URL, near{depth: m.depth + 1})
		if err != nil {
			return err
		}
		add(id, schema.PlaceMain)
	}
	total := m.linkCount()
	for i, place := range []schema.Place{schema.PlaceHeader, schema.PlaceFooter, schema.PlaceNav} {
		if i < len(s.pages) && len(v.Links) < total && m.chance(0.8) {
			add(s.pages[i], place)
		}
	}
	for tries := 2 * total; tries > 0 && len(v.Links) < total; tries-- {
		to := s
		if m.chance(0.15) {
			to = m.sites[m.zipf(len(m.sites))]
		}
		if len(to.pages) > 0 {
			add(to.pages[m.zipf(len(to.pages))], schema.Place(m.rand.IntN(int(schema.PlaceNav)+1)))
		}
	}
	return nil
}

// linkCount is the number of links of a page: few on most, many on some.
func (m *maker) linkCount() int {
	mean := float64(m.size.Links) / float64(m.size.Pages) / m.size.visited() / answering
	return int(mean*(0.25+0.75*m.rand.ExpFloat64()) + m.rand.Float64())
}

// fresh returns the number of links from a page to new pages. Pages of origins have two or three
// each until there are enough.
func (m *maker) fresh() int {
	switch {
	case m.depth > 0:
		return int(m.share + m.rand.Float64())
	case m.store.URLs() < m.upTo(0):
		return 2 + m.rand.IntN(2)
	}
	return 0
}

// freshHost returns the number of the host of a new page that a page of s leads to. Pages of
// origins lead to pages of origins until there are enough.
func (m *maker) freshHost(s *site) int {
	switch {
	case m.depth == 0 && m.chance(ownPages/(ownPages+nearPages)):
		if m.chance(0.25) {
			return m.own[m.zipf(len(m.own))]
		}
		return m.siteOf[s.id]
	case m.depth == 0 || m.chance(0.25):
		return m.another()
	}
	return m.siteOf[s.id]
}
