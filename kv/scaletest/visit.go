package scaletest

import (
	"fmt"
	"time"

	"github.com/sumi-ripple/ripple/schema"
)

// The parts of visits that end otherwise than with a page.
const (
	deadShare     = 0.03
	redirectShare = 0.03
	brokenShare   = 0.01
	deniedShare   = 0.01
	foreignShare  = 0.01 // of another content type

	answering = 1 - deadShare - redirectShare - brokenShare - deniedShare - foreignShare
)

// mostListed is the number of pages of a host that its sitemap names at most.
const mostListed = 1000

// visit visits a page unless its host keeps the crawl from it.
func (m *maker) visit(id schema.ID) error {
	s := m.site(id)
	if s.fate == fateListed || s.requests >= m.budget || s.fate == fateAway && s.requests >= 3 {
		return nil
	}
	forms, err := m.tx.URLs.Forms(id)
	if err != nil {
		return err
	}
	m.at = m.at.Add(20 * time.Millisecond)
	v := &schema.Visit{
		URL: id, Run: m.run.ID, At: m.at, State: schema.Processed, Status: 200, Requests: 1, Knew: forms.Set(),
		Form: forms.All()[0], Length: -1, ServerDate: m.at.Format("Mon, 02 Jan 2006 15:04:05 GMT"),
		ResponseTime: time.Duration(20+m.rand.IntN(300)) * time.Millisecond,
	}
	if err := m.answer(v, s); err != nil {
		return err
	}
	return m.record(v, v.Links)
}

// answer invents the answer of a page. The first pages of a host always exist.
func (m *maker) answer(v *schema.Visit, s *site) error {
	fails := func(state schema.State, status int, why schema.Reason) error {
		v.State, v.Status, v.Reason = state, status, why
		return nil
	}
	if s.fate == fateAway {
		v.ResponseTime, v.ServerDate = 0, ""
		return fails(schema.Unreachable, 0, schema.Reason{Cause: schema.CauseRefused})
	}
	p := m.rand.Float64()
	if v.URL <= s.pages[min(8, len(s.pages)-1)] {
		p = 1
	}
	for _, part := range []struct {
		share float64
		end   func() error
	}{
		{redirectShare, func() error { return m.redirect(v, s) }},
		{deadShare, func() error { return fails(schema.DeadLink, 404, schema.StatusReason(404)) }},
		{brokenShare, func() error { return fails(schema.Failed, 500, schema.StatusReason(500)) }},
		{deniedShare, func() error { return fails(schema.Failed, 0, schema.Reason{Cause: schema.CauseDenied}) }},
		{foreignShare, func() error {
			v.ContentType = "application/pdf"
			return fails(schema.ContentMismatch, 200, schema.Reason{Cause: schema.CauseContentType, Detail: v.ContentType})
		}},
	} {
		if p -= part.share; p < 0 {
			return part.end()
		}
	}
	return m.page(v, s)
}

// redirect makes a page redirect to a new one, usually on its host.
func (m *maker) redirect(v *schema.Visit, s *site) error {
	i := m.siteOf[s.id]
	if m.chance(0.2) && m.depth > 0 {
		i = m.another()
	}
	depth, hops := m.store.Depth(v.URL)
	to, err := m.meet(i, v.URL, near{depth: max(1, depth), hops: hops + 1})
	v.Status, v.RedirectTo = 301, to
	v.Links = []schema.Link{{To: to, Kinds: schema.Kinds(0).Add(schema.LinkRedirect), Place: schema.PlaceBody}}
	return err
}

// page makes up a page of HTML.
func (m *maker) page(v *schema.Visit, s *site) error {
	v.Title = m.text(5) + " - " + s.name
	v.ContentType, v.Charset, v.Length = "text/html; charset=utf-8", "utf-8", int64(5000+m.rand.IntN(50_000))
	if m.chance(0.5) {
		v.ETag = fmt.Sprintf("%q", fmt.Sprintf("%x", m.rand.Uint64()))
		v.LastModified = "Tue, 15 Nov 2022 12:45:26 GMT"
	}
	for i := range v.SHA256 {
		v.SHA256[i] = byte(m.rand.Uint32())
	}
	err := m.links(v, s)
	v.Distinct = len(v.Links)
	return err
}

// sitemap visits the sitemap of a host of an origin, which names its first pages.
func (m *maker) sitemap(s *site) error {
	const path = "/sitemap.xml"
	norm := "https://" + s.name + path
	if s.sitemap == 0 {
		u := schema.URL{Kind: schema.KindSitemap, Host: s.id, PathQuery: path, FirstSeen: m.at, FirstRun: m.run.ID}
		id, err := m.tx.URLs.Add(u, m.store.Hash(schema.KindSitemap, norm))
		if err != nil {
			return err
		}
		if _, err := m.tx.URLs.AddForm(id, norm, norm, false); err != nil {
			return err
		}
		s.sitemap = id
	}
	m.tx.Depths.Lower(s.sitemap, 0, 0)
	v := &schema.Visit{
		URL: s.sitemap, Run: m.run.ID, At: m.at, State: schema.Processed, Status: 200, Requests: 1,
		Knew: schema.FormSet{Shapes: schema.ShapePlain}, Form: norm,
		ContentType: "application/xml", Length: 100_000, ResponseTime: 50 * time.Millisecond,
	}
	for _, page := range s.pages[:min(len(s.pages), mostListed)] {
		m.lower(page, near{own: true})
		v.Sitemap = append(v.Sitemap, schema.SitemapEntry{To: page, LastMod: began.AddDate(0, 0, -m.rand.IntN(1000))})
	}
	if _, err := m.tx.Visits.Add(v); err != nil {
		return err
	}
	return m.carry(v.URL, nil)
}
