package record

import (
	"container/list"
	"slices"

	"github.com/sumi-ripple/ripple/crawl/maze"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/schema"
)

// Limits on the trails in memory.
const (
	mostTrails = schema.MaxMazes // of a host
	allTrails  = 4096            // of all hosts: 16 MB
	mostChecks = 16              // of a host in a run: each reads the log
	mostBelow  = 5000            // visited pages below a prefix that may be a maze: one is noticed long before
	warmUp     = 10              // pages below a prefix before those that are longer by a segment are followed
	evenTop    = 5               // the whole host is suspected only if no folder has more than a fifth of its pages
)

// mazes notices the parts of hosts that never end ([schema.Maze]), while pages are recorded. A suspicion (package
// maze) needs only what this process has seen. It is checked against the log, so that a crawl that is killed and
// resumed finds the same mazes, if a little later.
type mazes struct {
	in    *runState
	hosts *hosts
	seen  map[schema.HostID]*trails
	order list.List // of *trails, the latest visited host first
	count int       // trails in seen, at most allTrails
}

// trails are what was seen of a host in this run.
type trails struct {
	host     schema.HostID
	run      schema.RunID
	place    *list.Element // in the order of hosts
	whole    maze.Trail
	flat     int // pages in no folder
	byPrefix map[string]*trail
	checks   int            // suspicions that were checked against the log
	cleared  map[string]int // prefixes that are no mazes, and the number of pages at which that is checked again
}

// A trail is what was seen below a prefix.
type trail struct {
	maze.Trail
	last int // page of the host that was the last one below it
}

// A met is a link of the page that is recorded.
type met struct {
	id        schema.ID
	pathQuery string // empty: on another host
	fresh     bool   // no page had named it
}

// note takes notice of a visit that requested a page, with the links that it recorded.
func (m *mazes) note(h *schema.Host, o *ring.Outcome, visit *schema.Visit, links []met) error {
	if !m.in.set.Config.Traps.Maze || o.Wall != nil || len(h.Mazes) == 0 && h.RunVisited < warmUp {
		return nil
	}
	url, err := m.in.tx.URLs.At(visit.URL)
	if err != nil || m.tryAgain(h, url.PathQuery, visit) {
		return err
	}
	if o.Page == nil || visit.State != schema.Processed || visit.RedirectTo != 0 {
		return nil
	}
	return m.follow(h, url.PathQuery, links, maze.Page{SimHash: visit.SimHash, Words: o.Page.Words})
}

// tryAgain counts a page of a known maze. If half of the first ones of a later run no longer look like it, it is no
// maze any more.
func (m *mazes) tryAgain(h *schema.Host, pathQuery string, visit *schema.Visit) bool {
	for i := range h.Mazes {
		z := &h.Mazes[i]
		if !schema.Within(pathQuery, z.Prefix) {
			continue
		}
		if z.Run != m.in.run.ID {
			z.Run, z.Pages, z.Other = m.in.run.ID, 0, 0
		}
		z.Pages++
		if visit.State != schema.Processed || visit.RedirectTo != 0 || visit.Stand == 0 && len(visit.Links) == 0 {
			z.Other++
		}
		if z.Pages == schema.MazePages && 2*z.Other >= schema.MazePages {
			m.in.log.Info("no maze any more", "host", h.Name, "prefix", z.Prefix)
			h.Mazes = slices.Delete(slices.Clone(h.Mazes), i, i+1)
		}
		m.hosts.put(h)
		return true
	}
	return false
}

// follow adds a page to the trails of its host, and makes a maze of the first that is one.
func (m *mazes) follow(h *schema.Host, pathQuery string, links []met, page maze.Page) error {
	t := m.of(h.ID)
	t.whole.Add(below(&page, links, "/"))
	var followed []*trail
	prefixes := maze.Prefixes(pathQuery)
	if len(prefixes) == 0 {
		t.flat++
	}
	for _, prefix := range prefixes {
		if n := len(followed); n > 0 && followed[n-1].Pages < warmUp {
			break
		}
		one := m.trail(t, prefix)
		if one == nil {
			break
		}
		one.Add(below(&page, links, prefix))
		followed = append(followed, one)
	}
	for i, one := range followed {
		if i+1 < len(followed) && 2*followed[i+1].Pages >= one.Pages {
			continue // the longer prefix says it better
		}
		if found, err := m.judge(h, t, prefixes[i], &one.Trail); found || err != nil {
			return err
		}
	}
	if t.whole.Pages < 2*maze.Window || !t.even() || len(m.in.set.Scope.OriginsOf(h.Name)) > 0 {
		return nil
	}
	_, err := m.judge(h, t, "/", &t.whole)
	return err
}

// below completes what a page shows for the trail of a prefix.
func below(page *maze.Page, links []met, prefix string) *maze.Page {
	page.Below, page.New, page.Out = 0, 0, page.Out[:0]
	for _, l := range links {
		if !schema.Within(l.pathQuery, prefix) {
			page.Out = append(page.Out, l.id)
			continue
		}
		if page.Below++; l.fresh {
			page.New++
		}
	}
	return page
}

// of returns the trails of a host, which becomes the latest visited one.
func (m *mazes) of(id schema.HostID) *trails {
	t := m.seen[id]
	if t != nil && t.run == m.in.run.ID {
		m.order.MoveToFront(t.place)
		return t
	}
	if t != nil {
		m.forget(t)
	}
	t = &trails{host: id, run: m.in.run.ID, byPrefix: map[string]*trail{}, cleared: map[string]int{}}
	t.place = m.order.PushFront(t)
	m.seen[id] = t
	m.add()
	return t
}

// add counts a new trail of the latest visited host. Hosts that were visited least recently make room for it.
func (m *mazes) add() {
	for m.count++; m.count > allTrails && m.order.Len() > 1; {
		m.forget(m.order.Back().Value.(*trails))
	}
}

// forget drops the trails of a host.
func (m *mazes) forget(t *trails) {
	m.count -= 1 + len(t.byPrefix)
	m.order.Remove(t.place)
	delete(m.seen, t.host)
}

// trail returns the trail of a prefix. If the host has too many, the one least recently seen makes room, unless it has
// enough pages to be judged; nil: all have.
func (m *mazes) trail(t *trails, prefix string) *trail {
	one := t.byPrefix[prefix]
	if one == nil {
		if len(t.byPrefix) >= mostTrails && !m.makeRoom(t) {
			return nil
		}
		one = &trail{}
		t.byPrefix[prefix] = one
		m.add()
	}
	one.last = t.whole.Pages
	return one
}

// makeRoom drops the trail that is least recently seen, of those that have not enough pages to be judged.
func (m *mazes) makeRoom(t *trails) bool {
	least := ""
	for p, one := range t.byPrefix {
		other := t.byPrefix[least]
		if one.Pages < maze.Window && (other == nil || one.last < other.last || one.last == other.last && p < least) {
			least = p
		}
	}
	if least == "" {
		return false
	}
	delete(t.byPrefix, least)
	m.count--
	return true
}

// even reports whether the pages of the whole host are spread over many folders, none of which says anything about it.
// A host without folders is not even in this sense: its URLs alone cannot distinguish a maze from, say, a shop.
func (t *trails) even() bool {
	if 2*t.flat > t.whole.Pages {
		return false
	}
	for _, one := range t.byPrefix {
		if one.Pages*evenTop > t.whole.Pages {
			return false
		}
	}
	return true
}

// judge makes a prefix a maze if its trail is suspected and the log agrees.
func (m *mazes) judge(h *schema.Host, t *trails, prefix string, trail *maze.Trail) (bool, error) {
	if t.checks >= mostChecks || trail.Pages < t.cleared[prefix] || len(h.Mazes) >= schema.MaxMazes {
		return false, nil
	}
	suspicion := trail.Suspicion()
	if suspicion == maze.None {
		return false, nil
	}
	t.checks++
	evidence, err := m.gather(h, prefix)
	if err != nil {
		return false, err
	}
	if evidence.clears() || suspicion != maze.Clones && evidence.woven() {
		t.cleared[prefix] = 2 * trail.Pages
		return false, nil
	}
	h.Mazes = append(slices.Clip(h.Mazes), schema.Maze{Prefix: prefix, Run: m.in.run.ID, Pages: schema.MazePages})
	m.hosts.put(h)
	m.hosts.touch(h.ID)
	m.in.log.Warn("a maze: its pages are no longer visited", "host", h.Name, "prefix", prefix, "pages", evidence.pages)
	return true, nil
}

// An evidence is what the log of the run says about a prefix.
type evidence struct {
	pages   int  // visited below it
	entered bool // a page of the host outside it leads to more than one of its pages
	listed  bool // a sitemap names one
	large   bool // too many pages were visited below it
	links   int  // between pages below it, without those that are navigation
	crossed int  // of those: to pages that another page had named before, and that do not lead back
}

// clears reports whether the prefix is no maze, whatever its pages link to.
func (e *evidence) clears() bool { return e.entered || e.listed || e.large }

// woven reports whether pages below a prefix lead to each other, as those of an encyclopedia do, and not only on.
func (e *evidence) woven() bool { return e.crossed*5 > e.links }

// gather reads the log of the run, up to the first thing that clears the prefix.
func (m *mazes) gather(h *schema.Host, prefix string) (e evidence, err error) {
	inside := map[schema.ID]bool{}
	below := func(id schema.ID) bool {
		if m.in.store.HostOf(id) != h.ID || !m.in.isPage(id) || err != nil {
			return false
		}
		in, known := inside[id]
		if !known {
			var url schema.URL
			url, err = m.in.tx.URLs.At(id)
			in = schema.Within(url.PathQuery, prefix)
			inside[id] = in
		}
		return in
	}
	var pages []*schema.Visit
	for id := schema.ID(1); int(id) <= m.in.store.URLs() && err == nil && !e.clears(); id++ {
		page := m.in.store.HostOf(id) == h.ID && m.in.isPage(id)
		if !page && m.in.isPage(id) || !m.in.visited(id) {
			continue
		}
		var v *schema.Visit
		if v, err = m.in.tx.Visits.At(m.in.latest(id)); err != nil {
			break
		}
		switch {
		case !page:
			e.listed = e.listed || slices.ContainsFunc(v.Sitemap, func(s schema.SitemapEntry) bool { return below(s.To) })
		case below(id):
			pages = append(pages, v)
			e.large = len(pages) > mostBelow
		default:
			n := 0
			for _, l := range v.Links {
				if below(l.To) {
					n++
				}
			}
			e.entered = e.entered || n > 1 && m.in.store.Own(id)
		}
	}
	e.pages = len(pages)
	if err == nil && !e.clears() {
		err = m.weigh(&e, pages, below)
	}
	return e, err
}

// weigh counts the links between the pages below a prefix.
func (m *mazes) weigh(e *evidence, pages []*schema.Visit, below func(schema.ID) bool) error {
	links, named := map[schema.ID]*schema.Visit{}, map[schema.ID]int{}
	for _, v := range pages {
		links[v.URL] = v
		for _, l := range v.Links {
			named[l.To]++
		}
	}
	back := func(from, to schema.ID) bool {
		v := links[from]
		return v != nil && slices.ContainsFunc(v.Links, func(l schema.Link) bool { return l.To == to })
	}
	for _, v := range pages {
		for _, l := range v.Links {
			if 4*named[l.To] > len(pages) || !below(l.To) {
				continue
			}
			url, err := m.in.tx.URLs.At(l.To)
			if err != nil {
				return err
			}
			if e.links++; url.Referrer != v.URL && !back(l.To, v.URL) {
				e.crossed++
			}
		}
	}
	return nil
}

// closed reports whether a page is in a maze that the run has left. Seeds are visited all the same.
func (m *mazes) closed(id schema.ID, h *schema.Host) (bool, error) {
	if len(h.Mazes) == 0 || !m.in.set.Config.Traps.Maze || m.in.seeds.pages[id] {
		return false, nil
	}
	url, err := m.in.tx.URLs.At(id)
	return err == nil && h.Mazes.Closed(url.PathQuery, m.in.run.ID) != nil, err
}
