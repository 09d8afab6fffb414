package survey

import (
	"fmt"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// A LinkTable is all links that stand, by the page that links and then by target: 4 bytes
// a link, and 8 a page. Links are known by their place in it.
type LinkTable struct {
	Off []int64  // by id: the links of a page are To[Off[id]:Off[id+1]]
	To  []uint32 // ids of pages

	core     *core
	siteWide *siteWide
	inText   *bitset // by place
	redirect *bitset
	html     *bitset // pages, by id
}

// LinkTable reads all links, and tells f of every page as [Survey.EachSketch] does. It
// reads the log twice, from one end to the other.
func (s *Survey) LinkTable(f func(*Page) error) (*LinkTable, error) {
	t := &LinkTable{Off: make([]int64, s.URLs()+2), core: s.core, siteWide: &s.siteWide, html: newBitset(s.URLs())}
	err := s.EachSketch(func(p *Page) error {
		if p.Visit != nil {
			t.measure(p)
		}
		return f(p)
	})
	if err != nil {
		return nil, err
	}
	for id := 1; id < len(t.Off); id++ {
		t.Off[id] += t.Off[id-1]
	}
	links := t.Off[len(t.Off)-1]
	t.To, t.inText, t.redirect = make([]uint32, links), newBitset(int(links)), newBitset(int(links))
	if err := s.core.eachStanding(everyPage, t.fill); err != nil {
		return nil, err
	}
	if s.siteWide.targets == nil {
		err = s.siteWide.count(t.row)
	}
	return t, err
}

// measure notes how many links a page has, and whether it is one of HTML.
func (t *LinkTable) measure(p *Page) {
	t.Off[p.ID+1] = int64(p.LinkCount)
	if p.LinkCount > 0 && !p.firstLink.Has(schema.LinkRedirect) || p.LinkCount == 0 && isHTML(p.Visit) {
		t.html.set(int(p.ID))
	}
}

func (t *LinkTable) fill(of *kv.Linked) error {
	from, links := of.URL, of.Links
	at := int(t.Off[from])
	if int64(at+len(links)) != t.Off[from+1] {
		return fmt.Errorf("%w: page %d has %d links, or others", kv.ErrDamaged, from, len(links))
	}
	for i := range links {
		l := &links[i]
		if int(l.To) > t.core.store.URLs() {
			return fmt.Errorf("%w: page %d links to URL %d, which is not known", kv.ErrDamaged, from, l.To)
		}
		t.To[at+i] = uint32(l.To)
		if l.Place.Editorial() {
			t.inText.set(at + i)
		}
		if l.Kinds.Has(schema.LinkRedirect) {
			t.redirect.set(at + i)
		}
	}
	return nil
}

func (t *LinkTable) row(id schema.ID) (to []uint32, html bool, err error) {
	return t.To[t.Off[id]:t.Off[id+1]], t.html.has(int(id)), nil
}

// SiteWide reports whether a link of a page is to what most pages of its host link to.
func (t *LinkTable) SiteWide(from schema.ID, at int64) bool {
	return !t.redirect.has(int(at)) && t.siteWide.wide(from, schema.ID(t.To[at]))
}

// Endorses is [schema.Link.Endorses] of a link of a page.
func (t *LinkTable) Endorses(from schema.ID, at int64) bool {
	return t.inText.has(int(at)) && !t.SiteWide(from, at)
}
