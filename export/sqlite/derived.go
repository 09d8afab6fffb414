package sqlite

import (
	"fmt"
	"sort"

	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// Data derived for a statement is kept for the next ones.
type derived struct {
	db     *DB
	pages  *pageReader
	links  *linkReader
	marks  *marks
	depths *depths
	levels map[export.Level]*folded
	siteOf []uint32 // by host; nil: not derived yet
	asked  []schema.HostID
	named  []sitemapEntry

	pageMetrics []export.Measured
}

func newDerived(d *DB) derived {
	return derived{
		db: d, pages: &pageReader{db: d}, links: &linkReader{db: d}, levels: make(map[export.Level]*folded),
	}
}

// A graph holds the current links, 8 bytes each. The number of a link is its position among all, from
// 1.
type graph struct {
	start   []uint32 // by page: its links are to[start[id]:start[id+1]]
	to      []uint32
	inStart []uint32 // by page: links to it are in[inStart[id]:inStart[id+1]]
	in      []uint32 // positions in to, ascending
}

// readGraph reads all links.
func readGraph(s *survey.Survey) (*graph, error) {
	n := s.URLs()
	g := &graph{start: make([]uint32, n+2), inStart: make([]uint32, n+2)}
	last, beyond := schema.ID(0), schema.ID(0)
	err := s.Links.EachTarget(func(from, to schema.ID) {
		for ; last < from; last++ {
			g.start[last+1] = uint32(len(g.to))
		}
		if int(to) > n {
			beyond = to
			return
		}
		g.to = append(g.to, uint32(to))
		g.inStart[to+1]++
	})
	if err == nil && beyond != 0 {
		err = fmt.Errorf("%w: a page links to URL %d, which is not known", kv.ErrDamaged, beyond)
	}
	if err != nil {
		return nil, err
	}
	for ; int(last) <= n; last++ {
		g.start[last+1] = uint32(len(g.to))
	}
	for id := range n + 1 {
		g.inStart[id+1] += g.inStart[id]
	}
	g.in = make([]uint32, len(g.to))
	next := append([]uint32(nil), g.inStart...)
	for at, to := range g.to {
		g.in[next[to]] = uint32(at)
		next[to]++
	}
	return g, nil
}

// from returns the page with the link at a position.
func (g *graph) from(at uint32) schema.ID {
	return schema.ID(sort.Search(len(g.start), func(id int) bool { return g.start[id] > at }) - 1)
}

// out returns the range of positions of a page's links; toward returns the positions of the links to
// it.
func (g *graph) out(id schema.ID) (from, to uint32) { return g.start[id], g.start[id+1] }

func (g *graph) toward(id schema.ID) []uint32 { return g.in[g.inStart[id]:g.inStart[id+1]] }

// has reports whether id is in the range of pages.
func (g *graph) has(id int64) bool { return id > 0 && int(id) < len(g.start)-1 }

// marks hold data about all pages, collected in one walk.
type marks struct {
	listed  map[schema.Class][]uint32 // pages of classes that are never visited
	waiting []uint32                  // pages of the frontier
	class   []schema.Class            // by page
	state   []schema.State            // by page
}

// mark walks over all pages, once.
func (d *derived) mark() (*marks, error) {
	if d.marks != nil {
		return d.marks, nil
	}
	m := &marks{listed: map[schema.Class][]uint32{}, class: make([]schema.Class, d.db.survey.URLs()+1),
		state: make([]schema.State, d.db.survey.URLs()+1)}
	err := d.db.survey.EachPage(func(p *survey.Page) error {
		m.class[p.ID], m.state[p.ID] = p.Class, p.State
		if !p.Class.Visitable() && !p.Gone {
			m.listed[p.Class] = append(m.listed[p.Class], uint32(p.ID))
		}
		if p.Waits() {
			m.waiting = append(m.waiting, uint32(p.ID))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	d.marks = m
	return m, nil
}

// depths are the depths of all pages. Rows are numbered by page.
type depths struct {
	*survey.Depths
	names []string // of the origins
	first []uint32 // by page: the number of its first row, less one
}

func (d *derived) depth() (*depths, error) {
	if d.depths != nil {
		return d.depths, nil
	}
	s := d.db.survey
	all, err := s.OriginDepths()
	if err != nil {
		return nil, err
	}
	t := &depths{Depths: all, first: make([]uint32, s.URLs()+2)}
	for _, origin := range s.Scope().Origins() {
		t.names = append(t.names, origin.Name)
	}
	for id := schema.ID(1); int(id) <= s.URLs(); id++ {
		n := t.first[id]
		ok, err := s.Maps(id)
		if err != nil {
			return nil, err
		}
		if ok {
			for range all.Of(id) {
				n++
			}
		}
		t.first[id+1] = n
	}
	d.depths = t
	return t, nil
}

// of returns the page of a row.
func (t *depths) of(row int64) schema.ID {
	return schema.ID(sort.Search(len(t.first), func(id int) bool { return int64(t.first[id]) >= row }) - 1)
}

// A sitemapEntry is the position of an entry in a sitemap.
type sitemapEntry struct {
	sitemap schema.ID
	at      uint32
}

// names lists the entries of all sitemaps.
func (d *derived) names() ([]sitemapEntry, error) {
	if d.named != nil {
		return d.named, nil
	}
	named := []sitemapEntry{}
	for id := schema.ID(1); int(id) <= d.db.survey.URLs(); id++ {
		_, entries, err := d.db.survey.Sitemap(id)
		if err == nil && id%checkRows == 0 {
			err = d.db.ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		for at := range entries {
			named = append(named, sitemapEntry{id, uint32(at)})
		}
	}
	d.named = named
	return named, nil
}

// hosts lists the hosts with a row in domain_states.
func (d *derived) hosts() ([]schema.HostID, error) {
	if d.asked != nil {
		return d.asked, nil
	}
	asked := []schema.HostID{}
	err := d.db.survey.Hosts.Each(func(r *survey.HostReport) error {
		row, err := domainOf(d.db.survey, r.Host)
		if row != nil {
			asked = append(asked, r.Host.ID)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	d.asked = asked
	return asked, nil
}

// sites returns the site number of each host, as the export numbers them.
func (d *derived) sites() ([]uint32, error) {
	if d.siteOf != nil {
		return d.siteOf, nil
	}
	f := export.NewFold(d.db.survey, export.LevelSite)
	of := make([]uint32, d.db.survey.Hosts.Count()+1)
	err := d.db.survey.Hosts.Each(func(r *survey.HostReport) error {
		f.AddHost(r)
		of[r.Host.ID] = f.NodeOfHost(r.Host.ID)
		return nil
	})
	if err != nil {
		return nil, err
	}
	d.siteOf = of
	return of, nil
}
