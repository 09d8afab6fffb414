package survey

import (
	"fmt"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// A LinkTable holds all current links: 4 bytes a link, and 20 a URL. It gives URLs numbers from 0
// on: first to pages with links, then to all others; in both groups, those of one host are
// consecutive. As most links lead to pages of the same host, data by number is close together for
// both ends of a link. Links are known by their position.
type LinkTable struct {
	Off  []int64     // by number: the links of a page are To[Off[n]:Off[n+1]]
	To   []uint32    // numbers, in the order of the ids
	Page []schema.ID // by number
	Ends []uint32    // by host: its pages with links have the numbers from Ends[host-1] to before Ends[host]

	Me [][2]schema.ID // pages and targets of links of kind me between hosts, in no particular order

	core     *core
	siteWide *siteWide
	number   []uint32 // by id; while the table is built: the number of links
	endorses *bitset  // by position; site-wide links included
	redirect *bitset
	html     *bitset // pages, by id
}

// LinkTable reads all links, and calls f for every page like [Survey.EachSketch]. It reads the log
// twice, from start to end.
func (s *Survey) LinkTable(f func(*Page) error) (*LinkTable, error) {
	t := &LinkTable{
		number: make([]uint32, s.URLs()+1), core: s.core, siteWide: s.Links.siteWide, html: newBitset(s.URLs()),
	}
	err := s.EachSketch(func(p *Page) error {
		if p.Visit != nil {
			t.measure(p)
		}
		return f(p)
	})
	if err != nil {
		return nil, err
	}
	t.enumerate()
	links := t.Off[len(t.Off)-1]
	t.To, t.endorses, t.redirect = make([]uint32, links), newBitset(int(links)), newBitset(int(links))
	return t, s.stands.each(s.core.speaks, nil, t.fill)
}

// measure records how many links a page has, and whether it is HTML.
func (t *LinkTable) measure(p *Page) {
	t.number[p.ID] = uint32(p.LinkCount)
	if p.LinkCount > 0 && !p.firstLink.Has(schema.LinkRedirect) || p.LinkCount == 0 && isHTML(p.Visit) {
		t.html.set(int(p.ID))
	}
}

// enumerate gives all URLs their numbers.
func (t *LinkTable) enumerate() {
	hosts := t.core.store.Hosts() + 1
	next := make([]uint32, 2*hosts+1) // by host: pages with links, then the others
	key := func(id schema.ID) int {
		if t.number[id] > 0 {
			return int(t.core.store.HostOf(id))
		}
		return hosts + int(t.core.store.HostOf(id))
	}
	urls := schema.ID(len(t.number) - 1)
	for id := schema.ID(1); id <= urls; id++ {
		next[key(id)+1]++
	}
	for i := 1; i < len(next); i++ {
		next[i] += next[i-1]
	}
	t.Page, t.Off = make([]schema.ID, urls), make([]int64, urls+1)
	for id := schema.ID(1); id <= urls; id++ {
		n := &next[key(id)]
		t.Page[*n], t.Off[*n+1], t.number[id] = id, int64(t.number[id]), *n
		*n++
	}
	for n := range t.Page {
		t.Off[n+1] += t.Off[n]
	}
	t.Ends = next[:hosts:hosts]
}

func (t *LinkTable) fill(of *kv.Linked) error {
	from, links := of.URL, of.Links
	n := t.number[from]
	at := int(t.Off[n])
	if int64(at+len(links)) != t.Off[n+1] {
		return fmt.Errorf("%w: page %d has %d links, or others", kv.ErrDamaged, from, len(links))
	}
	for i := range links {
		l := &links[i]
		t.To[at+i] = t.number[l.To]
		if l.Endorses() {
			t.endorses.set(at + i)
		}
		if l.Kinds.Has(schema.LinkRedirect) {
			t.redirect.set(at + i)
		}
		if l.Kinds.Has(schema.LinkMe) && t.core.store.HostOf(l.To) != t.core.store.HostOf(from) {
			t.Me = append(t.Me, [2]schema.ID{from, l.To})
		}
	}
	return nil
}

func (t *LinkTable) row(id schema.ID) (row, error) {
	n := t.number[id]
	return row{to: t.To[t.Off[n]:t.Off[n+1]], html: t.html.has(int(id)), page: t.Page}, nil
}

// Number returns the number of a URL.
func (t *LinkTable) Number(id schema.ID) uint32 { return t.number[id] }

// FindSiteWide finds the site-wide links. [LinkTable.SiteWide] needs it.
func (t *LinkTable) FindSiteWide() error {
	if t.siteWide.targets != nil {
		return nil
	}
	return t.siteWide.count(t.row)
}

// SiteWide reports whether the link at a position, of the page with number from, leads to a target
// that most pages of its host link to.
func (t *LinkTable) SiteWide(from uint32, at int64) bool {
	return !t.redirect.has(int(at)) && t.siteWide.wide(t.Page[from], t.Page[t.To[at]])
}

// Endorses reports whether the link at a position, of the page with number from, is an endorsement,
// see [schema.Link.Endorses].
func (t *LinkTable) Endorses(from uint32, at int64) bool {
	return t.endorses.has(int(at)) && !t.SiteWide(from, at)
}
