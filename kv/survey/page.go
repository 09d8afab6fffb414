package survey

import (
	"cmp"
	"time"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/scope"
)

// A Page is what is known about a page in the last run that reached it.
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
	Rule  string // the rule that decided the state, or else the class; empty: none
	Error string // why the state is not processed
	Depth uint8  // smallest over all origins; kv.NoDepth: none
	Hops  uint8  // consecutive redirects on the path with fewest; kv.NoDepth: unknown
	Own   bool   // its own host names it; known for pages that the run has reached, or that wait
	Seed  bool
	InRun bool // the run has reached it, even if only to find it too deep
	Left  bool // an earlier run left it waiting, it still waits, and the run has not reached it
	Gone  bool // neither the last completed run nor a later one has met it

	Lost bool // an older run did not visit it, and the reason is no longer known

	FirstSeen time.Time
	FirstRun  schema.RunID
	LastRun   schema.RunID // the last that saw it
	Referrer  schema.ID    // the page that first linked to it; 0: none

	Answer     schema.Answer // what the server answered instead of a page
	AnswerRule string        // the rule that recognised it

	// Visit is the last visit with the current links and facts, without anchors; nil: it was never
	// visited. It must not be changed.
	Visit         *schema.Visit
	LinkCount     int    // current links; those of a gone page are not
	Visited       bool   // in the run
	FetchURL      string // the form that was requested last; empty: none
	RedirectTo    schema.ID
	RedirectCount int // recorded redirects that were followed from here, at most schema.MaxRedirects + 1
	Retries       int // failed tries, of the visit or before the one that it waits for

	firstLink schema.Kinds  // of the first current link
	feeds     int           // current links that lead only to feeds
	capped    obstacle      // what keeps it from being visited
	loops     bool          // its redirects lead back to a page of the chain
	fromVisit bool          // the state is that of its last visit
	cause     schema.Reason // the cause behind Error, if the page ended in one
}

// pages derives what each page is.
type pages struct {
	core      *core
	stands    *stands
	sights    *sights
	hosts     *hosts
	redirects *redirects
	walks     *walks
	missing   *missingPages
	parked    *parkedHosts

	ref    cachedLinks // of the last referrer read
	listed *bitset     // pages that a sitemap names; nil: not read yet
}

// each calls f for every page from an id on, without sitemap files. A page is valid while f runs.
// An error of f ends the walk.
func (ps *pages) each(from schema.ID, f func(*Page) error) error {
	return ps.walk(from, ps.page, f)
}

// places is each without what only a visit says. It looks up visits only of pages that an older run
// saw last.
func (ps *pages) places(f func(*Page) error) error {
	return ps.walk(1, ps.placed, f)
}

// placed is page without what only a visit says.
func (ps *pages) placed(tx *kv.Tx, u schema.URL) (*Page, error) {
	p, _, err := ps.place(tx, u)
	if err != nil {
		return nil, err
	}
	if p.Visited = ps.core.visited(u.ID); !p.Visited && !p.InRun && len(ps.core.runs) > 1 {
		if err := ps.readVisit(tx, p); err != nil {
			return nil, err
		}
	}
	p.LastRun, err = ps.sights.lastRun(p)
	return p, err
}

// walk calls f for the result of page for every page from an id on.
func (ps *pages) walk(from schema.ID, page func(*kv.Tx, schema.URL) (*Page, error), f func(*Page) error) error {
	return ps.eachURL(from, func(tx *kv.Tx, u schema.URL) error {
		p, err := page(tx, u)
		if err == nil {
			err = f(p)
		}
		return err
	})
}

// urls calls f for the URL of every page.
func (ps *pages) urls(f func(schema.URL) error) error {
	return ps.eachURL(1, func(_ *kv.Tx, u schema.URL) error { return f(u) })
}

// eachURL calls f for the URL of every page from an id on.
func (ps *pages) eachURL(from schema.ID, f func(*kv.Tx, schema.URL) error) error {
	return ps.core.view(func(tx *kv.Tx) error {
		return tx.URLs.Each(from, func(u schema.URL) (bool, error) {
			if int(u.ID) > ps.core.urls() {
				return false, nil
			}
			if u.Kind != schema.KindPage {
				return true, nil
			}
			unmet, err := ps.sights.unmet(tx, u.ID)
			if err = cmp.Or(err, ps.core.live()); err == nil && !unmet {
				err = f(tx, u)
			}
			return err == nil, err
		})
	})
}

// byID returns a page, or an error that wraps [kv.ErrNotFound].
func (ps *pages) byID(id schema.ID) (*Page, error) {
	var p *Page
	err := ps.core.view(func(tx *kv.Tx) error {
		u, err := tx.URLs.At(id)
		if err != nil {
			return err
		}
		p, err = ps.page(tx, u)
		return err
	})
	return p, err
}

func (ps *pages) page(tx *kv.Tx, u schema.URL) (*Page, error) {
	p, h, err := ps.place(tx, u)
	if err != nil {
		return nil, err
	}
	if err := ps.readVisit(tx, p); err != nil {
		return nil, err
	}
	if p.LastRun, err = ps.sights.lastRun(p); err != nil {
		return nil, err
	}
	return p, ps.judge(tx, h, u.PathQuery, p)
}

// place derives what is known about a page without its visit, and its host.
func (ps *pages) place(tx *kv.Tx, u schema.URL) (*Page, *host, error) {
	h, err := ps.hosts.host(tx, u.Host)
	if err != nil {
		return nil, nil, err
	}
	p := &Page{
		ID: u.ID, URL: "https://" + h.name + u.PathQuery, Host: u.Host, HostName: h.name, Site: h.site,
		Seed: ps.core.seeds[u.ID], InRun: ps.core.inRun(u.ID), FirstSeen: u.FirstSeen,
		FirstRun: min(ps.core.unpruned(u.FirstRun), ps.core.run.ID),
	}
	if ps.core.isPage(u.Referrer) {
		p.Referrer = u.Referrer
	}
	if p.Entity = h.entity; p.Entity == "" {
		p.Entity = ps.core.scope.Entity(p.URL)
	}
	p.PageType, _, _, _ = ps.core.scope.PageType(h.name, u.PathQuery)
	verdict := h.verdict
	if ps.core.scope.HasURLRules() {
		verdict = ps.core.scope.Classify(p.URL)
	}
	p.Class, p.Rule = verdict.Class, verdict.Rule
	return p, h, ps.locate(tx, p, u.FirstRun)
}

// locate sets whether a page belongs to the terrain, and its depth. first is the first run that met
// it.
func (ps *pages) locate(tx *kv.Tx, p *Page, first schema.RunID) (err error) {
	if p.Left, err = ps.sights.waits(tx, p.ID); err != nil {
		return err
	}
	p.Own = ps.core.own(p.ID) || p.Left && ps.sights.ownLeft.has(int(p.ID))
	p.Depth, p.Hops = kv.NoDepth, kv.NoDepth
	if p.Gone, err = ps.sights.gone(p.ID, p.Left, first); err == nil && !p.Gone {
		p.Depth, p.Hops, err = ps.walks.depth(p.ID)
	}
	return err
}

// readVisit adds what the last visit says.
func (ps *pages) readVisit(tx *kv.Tx, p *Page) error {
	seq := ps.core.latest(p.ID)
	if seq == 0 {
		return nil
	}
	v, err := ps.stands.visit(tx, seq)
	if err != nil {
		return err
	}
	if ps.core.speaks(p.ID) && len(v.Links) > 0 {
		p.LinkCount, p.firstLink = len(v.Links), v.Links[0].Kinds
		for i := range v.Links {
			if v.Links[i].Kinds == schema.OnlyFeed {
				p.feeds++
			}
		}
	}
	ps.addVisit(p, v)
	if v.Requests > 0 || v.Kept || v.Archived {
		p.FetchURL = v.Form
	}
	return nil
}

// addVisit adds what a visit says, except for its texts.
func (ps *pages) addVisit(p *Page, v *schema.Visit) {
	p.Visit, p.Visited, p.Retries = v, ps.core.visited(p.ID), v.Retries
	if v.State == schema.Processed && ps.core.isPage(v.RedirectTo) && ps.core.speaks(p.ID) {
		p.RedirectTo = v.RedirectTo
	}
}

// fullCap returns the first cap of a page that is full, or what ended its line, or the maze around it; zero:
// there is none. For an older run the counts are no longer known.
func (ps *pages) fullCap(tx *kv.Tx, h *host, pathQuery string, p *Page) (obstacle, error) {
	if ps.core.past != nil {
		return obstacle{}, nil
	}
	if h.others && !p.Own {
		return obstacle{hinderedByWalls, "refused: URLs that only other hosts name"}, nil
	}
	if maze := h.mazes.Closed(pathQuery, ps.core.run.ID); maze != nil && !p.Seed {
		return obstacle{hinderedByMaze, maze.Prefix}, nil
	}
	caps := ps.core.scope.Caps(h.name, pathQuery, p.Own)
	if limit := ps.core.cfg.Crawler.MaxSubdomains; limit > 0 && !h.admitted {
		c, err := ps.core.scope.SubdomainCap(h.name, limit, h.vouched, tx.Runs.Count)
		if err != nil {
			return obstacle{}, err
		}
		caps = append(caps, c)
	}
	room, full, err := scope.RoomIn(caps, tx.Runs.Count, nil)
	if err != nil || room == scope.Free {
		return obstacle{}, err
	}
	return obstacleOf(full.Rule), nil
}
