package scaletest

import (
	"github.com/sumi-ripple/ripple/schema"
)

// near is how far a page is from the origins, and the redirects in a row that lead there.
type near struct{ depth, hops uint8 }

// meet records a page of the i-th host that nobody has met, and returns its id.
func (m *maker) meet(i int, from schema.ID, n near) (schema.ID, error) {
	s := m.sites[i]
	if s.id == 0 {
		h, err := m.tx.Hosts.Add(s.name)
		if err != nil {
			return 0, err
		}
		s.id = h.ID
		m.siteOf = append(m.siteOf, i)
	}
	path := m.path(len(s.pages))
	norm := "https://" + s.name + path
	u := schema.URL{Host: s.id, PathQuery: path, Referrer: from, FirstSeen: m.at, FirstRun: m.run.ID}
	id, err := m.tx.URLs.Add(u, m.store.Hash(schema.KindPage, norm))
	if err != nil {
		return 0, err
	}
	form := norm
	if path != "/" && m.chance(0.05) {
		form = "http" + norm[len("https"):]
	}
	if _, err := m.tx.URLs.AddForm(id, norm, form, false); err != nil {
		return 0, err
	}
	s.pages = append(s.pages, id)
	m.lower(id, n)
	depth, _ := m.store.Depth(id)
	m.waiting[depth] = append(m.waiting[depth], id)
	return id, nil
}

// lower records a way to a page, and what follows from it where the page redirects.
func (m *maker) lower(id schema.ID, n near) {
	if m.site(id).fate == fateOwn {
		n.depth = 0
	}
	depth, hops := m.store.Depth(id)
	if n.depth >= depth && n.hops >= hops {
		return
	}
	m.tx.Depths.Lower(id, n.depth, n.hops)
	if to := m.redirects[id]; to != 0 {
		depth, hops := m.store.Depth(id)
		m.lower(to, near{max(1, depth), hops + 1})
	}
}

// site returns the host of a page.
func (m *maker) site(id schema.ID) *site { return m.sites[m.siteOf[m.store.HostOf(id)]] }

// another returns the number of a host that a page leads to besides its own: sometimes one
// that nobody has met. Only pages of origins meet hosts of origins.
func (m *maker) another() int {
	for {
		i := m.zipf(len(m.sites))
		if m.chance(0.5) && float64(len(m.unmet)) > m.spared() {
			i, m.unmet = m.unmet[0], m.unmet[1:]
		}
		if m.depth == 0 || m.sites[i].fate != fateOwn {
			return i
		}
	}
}

// spared is the number of hosts that pages at the depth leave to those behind them.
func (m *maker) spared() float64 {
	if m.depth == 0 {
		return 0.4 * float64(len(m.sites))
	}
	return 0
}
