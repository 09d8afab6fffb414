package scaletest

import (
	"github.com/sumi-ripple/ripple/schema"
)

// near is how far a page is from the origins, the redirects in a row that lead there, and whether the page is its
// host's own.
type near struct {
	depth, hops uint8
	own         bool
}

// meet records a new page of the i-th host, and returns its id.
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
	n.own = m.vouches(from, id)
	if !n.own && path != "/" {
		s.others++
	}
	s.pages = append(s.pages, id)
	m.lower(id, n)
	depth, _ := m.store.Depth(id)
	m.waiting[depth] = append(m.waiting[depth], id)
	return id, nil
}

// lower records a path to a page. If that changes what is known about a page that the run has
// visited, the page must pass the change on.
func (m *maker) lower(id schema.ID, n near) {
	if m.ofOrigin(id) {
		n.depth = 0
	}
	depth, hops := m.store.Depth(id)
	own := n.own && !m.store.Own(id)
	if n.depth >= depth && n.hops >= hops && !own {
		return
	}
	m.tx.Depths.Lower(id, n.depth, n.hops)
	if own {
		m.tx.Depths.SetOwn(id)
	}
	if seq := m.store.Latest(id); seq != 0 && seq >= m.run.FirstVisit {
		m.work = append(m.work, id)
	}
}

// carry passes on what is known about a page that was just visited, over its links, and likewise
// for every visited page that this changes.
func (m *maker) carry(page schema.ID, links []schema.Link) error {
	m.pass(page, links)
	for len(m.work) > 0 {
		id := m.work[len(m.work)-1]
		m.work = m.work[:len(m.work)-1]
		v, err := m.tx.Visits.At(m.store.Latest(id))
		if err == nil && v.Stand != 0 {
			v.Links, err = m.tx.Visits.AppendLinks(nil, v.Stand, id)
		}
		if err != nil {
			return err
		}
		m.pass(id, v.Links)
	}
	return nil
}

// pass passes what is known about a page on over its links.
func (m *maker) pass(page schema.ID, links []schema.Link) {
	depth, hops := m.store.Depth(page)
	for _, link := range links {
		n := near{depth: depth + 1, own: m.vouches(page, link.To)}
		if link.Kinds.Has(schema.LinkRedirect) {
			n.depth, n.hops = max(1, depth), hops+1
		}
		m.lower(link.To, n)
	}
}

// vouches reports whether a link of a page counts as the target's own host naming the target.
func (m *maker) vouches(page, to schema.ID) bool {
	if m.store.HostOf(page) == m.store.HostOf(to) {
		return m.store.Own(page)
	}
	return page != 0 && m.ofOrigin(page) && !m.ofOrigin(to)
}

// ofOrigin reports whether a page belongs to an origin.
func (m *maker) ofOrigin(id schema.ID) bool { return m.site(id).fate == fateOwn }

// site returns the host of a page.
func (m *maker) site(id schema.ID) *site { return m.sites[m.siteOf[m.store.HostOf(id)]] }

// another returns the number of another host that a page leads to: sometimes a new one. Only pages
// of origins lead to new hosts of origins.
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
