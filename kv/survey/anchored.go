package survey

import (
	"cmp"
	"slices"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// EachTo calls f for the current links to wanted targets, with their anchors: page by page in the
// order of [Links.EachTargetWritten], then by target. Several goroutines may call want at once. An
// error of f ends the walk.
func (ls *Links) EachTo(want func(to schema.ID) bool, f func(from schema.ID, l schema.Link) error) error {
	return ls.eachTo(ls.core.speaks, want, f)
}

func (ls *Links) eachTo(from, want func(schema.ID) bool, f func(from schema.ID, l schema.Link) error) error {
	urls := ls.core.urls()
	near := func(to schema.ID) bool { return int(to) > urls || want(to) }
	return ls.core.view(func(tx *kv.Tx) error {
		t := &teller{tx: tx, want: want, f: f}
		err := ls.stands.each(from, near, t.add)
		if err == nil {
			err = t.tell()
		}
		return err
	})
}

// EachInto calls f for the current links from pages of wanted hosts to wanted targets, like
// [Links.EachTo], with site-wide links marked. It reads the file twice, and the other links only of
// hosts that can have a site-wide link to one of the targets.
func (ls *Links) EachInto(from func(schema.HostID) bool, to func(schema.ID) bool,
	f func(from schema.ID, l schema.Link) error) error {
	hostOf := ls.core.store.HostOf
	links := make([]uint32, ls.core.store.Hosts()+1) // by host: to all targets
	err := ls.EachTargetWritten(func(page, target schema.ID) {
		if host := hostOf(page); to(target) && from(host) {
			links[host]++
		}
	})
	if err != nil {
		return err
	}
	wide, err := ls.siteWide.among(func(host schema.HostID) bool { return 2*links[host] > siteWidePages })
	if err != nil {
		return err
	}
	linking := func(page schema.ID) bool { return links[hostOf(page)] > 0 && ls.core.speaks(page) }
	return ls.eachTo(linking, to, func(page schema.ID, l schema.Link) error {
		l.SiteWide = wide.has(page, &l)
		return f(page, l)
	})
}

// A teller gathers pages with wanted links, because the anchors of many pages are read at once.
type teller struct {
	tx    *kv.Tx
	want  func(to schema.ID) bool
	f     func(from schema.ID, l schema.Link) error
	pages []kv.Linked
	links []schema.Link // of all gathered pages
}

func (t *teller) add(l *kv.Linked) error {
	n, page := len(t.links), *l
	t.links = append(t.links, l.Links...)
	page.Links = t.links[n:]
	if t.pages = append(t.pages, page); len(t.links) < blockLinks {
		return nil
	}
	return t.tell()
}

// tell calls f for the gathered links, and drops them.
func (t *teller) tell() error {
	if err := t.tx.Visits.FillAnchors(t.pages, t.want); err != nil {
		return err
	}
	for i := range t.pages {
		for _, l := range t.pages[i].Links {
			if !t.want(l.To) {
				continue
			}
			if err := t.f(t.pages[i].URL, l); err != nil {
				return err
			}
		}
	}
	t.pages, t.links = t.pages[:0], t.links[:0]
	return nil
}

// EachBetween calls f for the current links between pairs of pages, from the first page to the
// second, with their anchors and the index of the pair. The order is that of the file, which is
// read once from start to end. An error of f ends the walk.
func (ls *Links) EachBetween(pairs [][2]schema.ID, f func(i int, l schema.Link) error) error {
	if err := ls.stands.find(); err != nil {
		return err
	}
	order := make([]int, len(pairs))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(ls.stands.of(pairs[a][0]), ls.stands.of(pairs[b][0])), cmp.Compare(a, b))
	})
	wanted := make(map[schema.ID]bool, len(pairs))
	for _, pair := range pairs {
		wanted[pair[1]] = true
	}
	return ls.core.view(func(tx *kv.Tx) error {
		c := &citer{core: ls.core, stands: ls.stands, tx: tx, wanted: wanted, f: f}
		for _, i := range order {
			if err := c.add(i, pairs[i][0], pairs[i][1]); err != nil {
				return err
			}
		}
		return c.tell()
	})
}

// A citer gathers pages with requested links, because the anchors of many pages are read at once.
type citer struct {
	core   *core
	stands *stands
	tx     *kv.Tx
	wanted map[schema.ID]bool // targets
	f      func(i int, l schema.Link) error
	last   kv.Linked // the last one read
	pages  []kv.Linked
	links  int // of all gathered pages
	cited  []citation
}

// A citation is a link that was found.
type citation struct {
	i    int // index of the pair
	page int
	to   schema.ID
}

func (c *citer) add(i int, from, to schema.ID) error {
	if err := c.core.live(); err != nil {
		return err
	}
	if !c.core.isPage(from) || c.stands.of(from) == 0 {
		return nil
	}
	if seq := c.stands.of(from); c.last.Seq != seq {
		var err error
		if c.last, err = c.tx.Visits.LinkedAt(seq); err != nil {
			return err
		}
	}
	if c.last.URL != from {
		return kv.OfAnother(c.last.Seq, from)
	}
	if _, ok := linkTo(c.last.Links, to); !ok {
		return nil
	}
	if n := len(c.pages); n == 0 || c.pages[n-1].Seq != c.last.Seq {
		if c.links >= blockLinks {
			if err := c.tell(); err != nil {
				return err
			}
		}
		c.pages, c.links = append(c.pages, c.last), c.links+len(c.last.Links)
	}
	c.cited = append(c.cited, citation{i, len(c.pages) - 1, to})
	return nil
}

// tell calls f for the gathered links, and drops them.
func (c *citer) tell() error {
	if err := c.tx.Visits.FillAnchors(c.pages, func(to schema.ID) bool { return c.wanted[to] }); err != nil {
		return err
	}
	for _, one := range c.cited {
		link, _ := linkTo(c.pages[one.page].Links, one.to)
		if err := c.f(one.i, link); err != nil {
			return err
		}
	}
	c.pages, c.links, c.cited = c.pages[:0], 0, c.cited[:0]
	return nil
}
