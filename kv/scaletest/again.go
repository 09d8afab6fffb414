package scaletest

import (
	"fmt"
	"time"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// The parts of pages that a later run finds otherwise than the one before.
const (
	goneShare    = 0.05 // of those that are farthest from the origins
	changedShare = 0.1
	freshShare   = 0.02 // links lead to pages that are new
)

// again walks the terrain once more, a month later. Most pages have not changed; some have changed,
// some are gone, and some lead to new pages. Only pages that lead to no visited page disappear, so
// that all visited pages are visited again, in the same order.
func (m *maker) again() error {
	last := m.store.LastSeq()
	err := m.update(m.beginAgain)
	for seq := schema.Seq(1); seq <= last && err == nil; {
		err = m.update(func() error {
			for n := 0; n < commitVisits && seq <= last; n, seq = n+1, seq+1 {
				if err := m.revisit(seq); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err != nil {
		return err
	}
	return m.update(m.end)
}

func (m *maker) beginAgain() (err error) {
	m.at = m.at.AddDate(0, 1, 0)
	m.run = schema.Run{ID: m.run.ID + 1, Started: m.at, Config: m.run.Config, FirstVisit: m.store.LastSeq() + 1,
		Errors: map[string]int{}}
	for _, s := range m.sites {
		s.visited, s.requests = 0, 0
	}
	if m.run.Generation, err = m.tx.Depths.NewGeneration(); err != nil {
		return err
	}
	for _, i := range m.seeds() {
		m.lower(m.sites[i].pages[0], near{own: true})
	}
	return nil
}

// revisit visits the page of an earlier visit again, if the run has reached it.
func (m *maker) revisit(seq schema.Seq) error {
	before, err := m.tx.Visits.At(seq)
	if err != nil || m.store.Kind(before.URL) != schema.KindPage {
		return err
	}
	depth, _ := m.store.Depth(before.URL)
	if depth == kv.NoDepth {
		return nil
	}
	v := *before
	v.Run, v.Links = m.run.ID, nil
	m.at = m.at.Add(20 * time.Millisecond)
	v.At = m.at
	switch p := m.rand.Float64(); {
	case before.RedirectTo != 0:
		v.Links = before.Links
	case before.State != schema.Processed:
	case depth == maxDepth && p < goneShare:
		v = schema.Visit{URL: v.URL, Run: v.Run, At: v.At, State: schema.DeadLink, Status: 404, Requests: 1, Length: -1,
			Form: v.Form, Knew: v.Knew, ServerDate: v.ServerDate, Reason: schema.StatusReason(404)}
	case p < goneShare+changedShare:
		err = m.change(&v, before, depth)
	default:
		v.Status, v.Stand, v.Length, v.SHA256, v.Distinct = 304, seq, -1, [32]byte{}, 0
		v.Title, v.ContentType, v.Charset, v.LastModified, v.ETag = "", "", "", "", ""
		return m.record(&v, before.Links)
	}
	if err != nil {
		return err
	}
	return m.record(&v, v.Links)
}

// change invents the changes of a page.
func (m *maker) change(v, before *schema.Visit, depth uint8) error {
	if err := m.tx.Visits.Anchors(before); err != nil {
		return err
	}
	v.Links, v.Title = before.Links, m.text(5)
	v.SHA256[0]++
	if depth >= maxDepth || !m.chance(freshShare/changedShare) || m.site(v.URL).requests+2 > m.budget {
		return nil
	}
	id, err := m.meet(m.siteOf[m.store.HostOf(v.URL)], v.URL, near{depth: depth + 1})
	if err != nil {
		return err
	}
	v.Links = append(v.Links, schema.Link{To: id, Kinds: schema.Kinds(0).Add(schema.LinkAnchor), Anchor: m.text(2),
		Place: schema.PlaceMain})
	v.Distinct++
	fresh := schema.Visit{URL: id, Run: v.Run, At: v.At, State: schema.Processed, Status: 200, Requests: 1,
		Knew: schema.FormSet{Shapes: schema.ShapePlain}, Content: schema.Content{Title: m.text(3), Charset: "utf-8"},
		ContentType: "text/html", Length: 1000, SHA256: v.SHA256}
	forms, err := m.tx.URLs.Forms(id)
	if err != nil {
		return err
	}
	fresh.Form = forms.All()[0]
	return m.record(&fresh, nil)
}

// record adds a visit to the log, counts it, and passes what is known about its page on over the
// page's current links.
func (m *maker) record(v *schema.Visit, links []schema.Link) error {
	s := m.site(v.URL)
	s.visited, s.requests = s.visited+1, s.requests+1
	m.run.Pages, m.run.Requests = m.run.Pages+1, m.run.Requests+1
	if kind := v.ErrorKind(); kind != "" {
		m.run.Errors[kind]++
	}
	if _, err := m.tx.Visits.Add(v); err != nil {
		return fmt.Errorf("visit of URL %d: %w", v.URL, err)
	}
	return m.carry(v.URL, links)
}
