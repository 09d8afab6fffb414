package survey

import (
	"errors"
	"slices"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// siteWidePages is the smallest number of HTML pages for a host to have site-wide links.
const siteWidePages = 10

// siteWide knows the targets that more than half of the pages of a host link to, by the current
// links of [Survey.Speakers]. A link to such a target says nothing about its page, whatever its
// markup: the logo of a theme, a licence, the home page of the publisher.
type siteWide struct {
	core    *core
	stands  *stands
	walks   *walks
	targets [][]schema.ID // by the host that links, ascending; nil: not derived yet
}

// mark calls each with a function that sets SiteWide before it calls f. A redirect has no place on
// a page and is never site-wide.
func (sw *siteWide) mark(each func(LinkFunc) error, f LinkFunc) error {
	if err := sw.derive(); err != nil {
		return err
	}
	return each(func(from schema.ID, link schema.Link, first, last schema.RunID) error {
		link.SiteWide = sw.has(from, &link)
		return f(from, link, first, last)
	})
}

// has reports whether a link leads to one of the targets, which must have been derived.
func (sw *siteWide) has(from schema.ID, l *schema.Link) bool {
	return !l.Kinds.Has(schema.LinkRedirect) && sw.wide(from, l.To)
}

func (sw *siteWide) wide(from, to schema.ID) bool {
	_, wide := slices.BinarySearch(sw.targets[sw.core.store.HostOf(from)], to)
	return wide
}

// derive counts the links of all hosts with enough pages, once.
func (sw *siteWide) derive() error {
	if sw.targets != nil {
		return nil
	}
	return sw.look(sw.count)
}

// look calls f with a function that looks up the rows of pages.
func (sw *siteWide) look(f func(rowFunc) error) error {
	return sw.core.view(func(tx *kv.Tx) error {
		r := &lookup{core: sw.core, stands: sw.stands, tx: tx}
		return f(r.row)
	})
}

// among knows the targets of the hosts for which want holds. Unless those of all hosts have been
// derived, it reads the links of these hosts alone.
func (sw *siteWide) among(want func(schema.HostID) bool) (*siteWide, error) {
	if sw.targets != nil {
		return sw, nil
	}
	some := &siteWide{core: sw.core, stands: sw.stands, walks: sw.walks}
	return some, some.look(func(row rowFunc) error { return some.countOf(want, row) })
}

// A row is the targets of a page's links, and whether the page is HTML.
type row struct {
	to   []uint32
	html bool
	page []schema.ID // page of a target; nil: targets are ids
}

// A rowFunc returns the row of a page, valid until the next call.
type rowFunc func(id schema.ID) (row, error)

// count derives the targets of all hosts.
func (sw *siteWide) count(row rowFunc) error {
	return sw.countOf(func(schema.HostID) bool { return true }, row)
}

// countOf derives the targets of wanted hosts from the links of their pages, host by host.
func (sw *siteWide) countOf(want func(schema.HostID) bool, row rowFunc) error {
	targets := make([][]schema.ID, sw.core.store.Hosts()+1)
	wanted := false
	for host := 1; host < len(targets) && !wanted; host++ {
		wanted = want(schema.HostID(host))
	}
	if !wanted {
		sw.targets = targets
		return nil
	}
	speaks, err := sw.walks.speakers()
	if err != nil {
		return err
	}
	c := counter{core: sw.core, row: row, counts: make([]uint32, sw.core.store.URLs()+1)}
	pages, ends := sw.core.byHost(func(id schema.ID) bool { return want(sw.core.store.HostOf(id)) && speaks(id) })
	for host := 1; host < len(targets) && err == nil; host++ {
		if own := pages[ends[host-1]:ends[host]]; len(own) >= siteWidePages {
			targets[host], err = c.wideTargets(own)
		}
	}
	if err == nil {
		sw.targets = targets
	}
	return err
}

// byHost returns the wanted URLs by host: those of a host end at ends[host].
func (c *core) byHost(want func(schema.ID) bool) (pages []schema.ID, ends []int) {
	next := make([]int, c.store.Hosts()+2)
	each := func(f func(id schema.ID)) {
		for id := schema.ID(1); int(id) <= c.urls(); id++ {
			if want(id) {
				f(id)
			}
		}
	}
	each(func(id schema.ID) { next[c.store.HostOf(id)+1]++ })
	for host := 1; host < len(next); host++ {
		next[host] += next[host-1]
	}
	pages = make([]schema.ID, next[len(next)-1])
	each(func(id schema.ID) {
		at := &next[c.store.HostOf(id)]
		pages[*at] = id
		*at++
	})
	return pages, next
}

// A counter counts the links to each target, one host after another.
type counter struct {
	core   *core
	row    rowFunc
	counts []uint32 // by target; zero between hosts
	met    []uint32
}

// wideTargets returns the targets that more than half of the HTML pages among the given ones link
// to; nil if there are too few of these.
func (c *counter) wideTargets(pages []schema.ID) (wide []schema.ID, err error) {
	total := 0
	var r row
	for _, id := range pages {
		r, err = c.row(id)
		if err = errors.Join(err, c.core.live()); err != nil {
			return nil, err
		}
		if !r.html {
			continue
		}
		total++
		for _, to := range r.to {
			if c.counts[to]++; c.counts[to] == 1 {
				c.met = append(c.met, to)
			}
		}
	}
	for _, to := range c.met {
		if total >= siteWidePages && 2*int(c.counts[to]) > total {
			wide = append(wide, r.idOf(to))
		}
		c.counts[to] = 0
	}
	c.met = c.met[:0]
	slices.Sort(wide)
	return wide, nil
}

// idOf returns the id of a target.
func (r *row) idOf(to uint32) schema.ID {
	if r.page == nil {
		return schema.ID(to)
	}
	return r.page[to]
}

// A lookup looks up the links of pages.
type lookup struct {
	core   *core
	stands *stands
	tx     *kv.Tx
	links  []schema.Link // of one page
	to     []uint32
}

// row reads the current links after the last visit of a page. Only for a page without links it must
// decode the rest of the visit, to know whether the page is HTML.
func (l *lookup) row(id schema.ID) (r row, err error) {
	if l.links, err = l.stands.append(l.tx, l.links[:0], id); err != nil {
		return r, err
	}
	if len(l.links) == 0 {
		v, err := l.stands.visit(l.tx, l.core.latest(id))
		return row{html: err == nil && isHTML(v)}, err
	}
	l.to = l.to[:0]
	for i := range l.links {
		l.to = append(l.to, uint32(l.links[i].To))
	}
	return row{to: l.to, html: !l.links[0].Kinds.Has(schema.LinkRedirect)}, nil
}

// isHTML reports whether a visit read an HTML page: only those have a charset.
func isHTML(v *schema.Visit) bool {
	return v.State == schema.Processed && v.RedirectTo == 0 && v.Charset != ""
}
