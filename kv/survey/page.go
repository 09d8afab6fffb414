package survey

import (
	"cmp"
	"time"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/terrain"
)

// A Page is all that is known of a page in the last run that reached it.
type Page struct {
	ID       schema.ID
	URL      string // its identity
	Host     schema.HostID
	HostName string
	Site     string
	Entity   string
	PageType string // empty: none

	Class schema.Class
	State schema.State
	Rule  string // that decided the state, else the class; empty: none
	Error string // why the state is not processed
	Depth uint8  // the smallest over all origins; kv.NoDepth: none
	Hops  uint8  // redirects in a row on the way that has fewest; kv.NoDepth: unknown
	Seed  bool
	InRun bool // the run has reached it, be it only to find it too deep
	Left  bool // an earlier run left it waiting, and it still waits; the run has not reached it

	Capped bool // a cap, a trap or a Crawl-delay keeps it from being visited
	Lost   bool // an older run did not visit it, and it is not known any more why

	FirstSeen time.Time
	FirstRun  schema.RunID
	LastRun   schema.RunID // the last that saw it
	Referrer  schema.ID    // the page that first led here; 0: none

	// Visit is the last visit with the links and facts that stand, without
	// anchors; nil: never visited. It is not to be changed.
	Visit         *schema.Visit
	Visited       bool   // in the run
	FetchURL      string // the form that was asked last; empty: never
	RedirectTo    schema.ID
	RedirectCount int // recorded redirects that were followed from here, at most MaxRedirects + 1
	Retries       int // failed tries, of the visit or before the one it waits for

	loops  bool // the redirects from here come back
	stands bool // the state is that of its last visit
}

// EachPage calls f for every page by id; sitemap files are none. A page is valid
// while f runs. An error of f ends it.
func (s *Survey) EachPage(f func(*Page) error) error {
	return s.view(func(tx *kv.Tx) error {
		return tx.EachURL(1, func(u schema.URL) (bool, error) {
			if int(u.ID) > s.URLs() {
				return false, nil
			}
			if u.Kind != schema.KindPage {
				return true, nil
			}
			p, err := s.page(tx, u)
			if err == nil {
				err = f(p)
			}
			return err == nil, err
		})
	})
}

// Page returns a page, or an error that wraps [kv.ErrNotFound].
func (s *Survey) Page(id schema.ID) (*Page, error) {
	var p *Page
	err := s.view(func(tx *kv.Tx) error {
		u, err := tx.URL(id)
		if err != nil {
			return err
		}
		p, err = s.page(tx, u)
		return err
	})
	return p, err
}

func (s *Survey) page(tx *kv.Tx, u schema.URL) (*Page, error) {
	h, err := s.host(tx, u.Host)
	if err != nil {
		return nil, err
	}
	p := &Page{
		ID: u.ID, URL: "https://" + h.name + u.PathQuery, Host: u.Host, HostName: h.name, Site: h.site,
		Seed: s.seeds[u.ID], InRun: s.inRun(u.ID), FirstSeen: u.FirstSeen, FirstRun: s.kept(u.FirstRun),
	}
	if s.isPage(u.Referrer) {
		p.Referrer = u.Referrer
	}
	p.Entity = s.terrain.Entity(p.URL)
	p.PageType, _, _, _ = s.terrain.PageType(h.name, u.PathQuery)
	verdict := h.verdict
	if s.terrain.HasURLRules() {
		verdict = s.terrain.Classify(p.URL)
	}
	p.Class, p.Rule = verdict.Class, verdict.Rule
	if p.Depth, p.Hops, err = s.depth(u.ID); err != nil {
		return nil, err
	}
	if p.Left, err = s.waitsSince(tx, u.ID); err != nil {
		return nil, err
	}
	if err := s.readVisit(tx, p); err != nil {
		return nil, err
	}
	if p.LastRun, err = s.lastRun(p); err != nil {
		return nil, err
	}
	return p, s.judge(tx, h, u.PathQuery, p)
}

// kept returns a run, or the oldest that is left if that one was pruned.
func (s *Survey) kept(run schema.RunID) schema.RunID { return max(run, s.runs[0].ID) }

// readVisit fills in what the last visit says.
func (s *Survey) readVisit(tx *kv.Tx, p *Page) error {
	seq := s.latest(p.ID)
	if seq == 0 {
		return nil
	}
	v, err := s.standing(tx, seq)
	if err != nil {
		return err
	}
	p.Visit, p.Visited = v, s.visited(p.ID)
	p.Retries = v.Retries
	if v.Requests > 0 || v.Kept {
		p.FetchURL = v.Form
	}
	if v.State == schema.Processed && s.isPage(v.RedirectTo) {
		p.RedirectTo = v.RedirectTo
	}
	return nil
}

// standing returns a visit with the links and facts that stand.
func (s *Survey) standing(tx *kv.Tx, seq schema.Seq) (*schema.Visit, error) {
	v, err := tx.Visit(seq)
	if err != nil || v.Stand == 0 {
		return v, err
	}
	from, err := tx.Visit(v.Stand)
	if err != nil {
		return nil, err
	}
	v.Links, v.Facts, v.Distinct = from.Links, from.Facts, from.Distinct
	v.Title, v.Charset = from.Title, from.Charset
	v.NoIndex, v.NoFollow = from.NoIndex, from.NoFollow
	if v.Length < 0 || v.SHA256 == [32]byte{} {
		v.Length, v.SHA256 = from.Length, from.SHA256
	}
	v.ContentType = cmp.Or(v.ContentType, from.ContentType)
	v.LastModified = cmp.Or(v.LastModified, from.LastModified)
	v.ETag = cmp.Or(v.ETag, from.ETag)
	v.StoredPath = cmp.Or(v.StoredPath, from.StoredPath)
	return v, nil
}

// lastRun returns the last run that saw a page: reached it, visited it, or saw a
// link to it.
func (s *Survey) lastRun(p *Page) (schema.RunID, error) {
	if len(s.runs) == 1 || p.InRun || p.Visited {
		return s.run.ID, nil
	}
	last := p.FirstRun
	if p.Visit != nil {
		last = max(last, p.Visit.Run)
	}
	if err := s.readSights(); err != nil {
		return 0, err
	}
	return max(last, s.sights[p.ID]), nil
}

// inRun reports whether a URL belongs to the run of the survey.
func (s *Survey) inRun(id schema.ID) bool {
	depth, _ := s.nearest(id)
	return depth != kv.NoDepth
}

// readSights notes for every URL the last run in which a page linked to it.
func (s *Survey) readSights() error {
	if s.sights != nil {
		return nil
	}
	sights := make([]schema.RunID, s.URLs()+1)
	err := s.eachStanding(func(_ schema.ID, v *schema.Visit) error {
		for i := range v.Links {
			to := v.Links[i].To
			sights[to] = max(sights[to], v.Run)
		}
		return nil
	})
	if err == nil {
		s.sights = sights
	}
	return err
}

// eachStanding calls f for the standing visit of every page that has one, by id.
func (s *Survey) eachStanding(f func(schema.ID, *schema.Visit) error) error {
	return s.view(func(tx *kv.Tx) error {
		for id := schema.ID(1); int(id) <= s.URLs(); id++ {
			seq := s.latest(id)
			if seq == 0 || s.store.Kind(id) != schema.KindPage {
				continue
			}
			v, err := s.standing(tx, seq)
			if err != nil {
				return err
			}
			if err := f(id, v); err != nil {
				return err
			}
		}
		return nil
	})
}

// fullCap returns the rule of the first counter of a page that is full; empty: none.
// Only those of the newest run are kept.
func (s *Survey) fullCap(tx *kv.Tx, h *host, pathQuery string) (string, error) {
	if s.past != nil {
		return "", nil
	}
	caps := s.terrain.Caps(h.name, pathQuery)
	if limit := s.cfg.Crawler.MaxSubdomains; limit > 0 && !h.admitted {
		caps = append(caps, terrain.SubdomainCap(h.name, limit))
	}
	for _, c := range caps {
		n, err := tx.Caps(c.Rule, c.Group)
		if err != nil {
			return "", err
		}
		if n >= c.Limit {
			return c.Rule, nil
		}
	}
	return "", nil
}
