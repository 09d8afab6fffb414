package survey

import (
	"cmp"
	"errors"
	"iter"
	"slices"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// blockLinks and blockPages limit the links that Each holds at a time. The anchors of a block are
// read in the order in which they were written.
const (
	blockLinks = 1 << 18
	blockPages = 1 << 13
)

// Links are the links between the pages of a survey.
type Links struct {
	core     *core
	stands   *stands
	siteWide *siteWide
}

// A LinkFunc is called for a link, with the first and the last run that saw it. An error
// ends the walk.
type LinkFunc = func(from schema.ID, link schema.Link, first, last schema.RunID) error

// Each calls f for the current links, with their anchors: by the page that links, then by target,
// with the first and the last run that saw the link. Links to a site-wide target are marked. Links
// of a page that neither the last completed run nor a later one visited are not current. For
// [Survey.Ever] it calls f for the links that any run saw. An error of f ends the walk.
func (ls *Links) Each(f LinkFunc) error {
	return ls.EachIn(ls.all, f)
}

// all yields all pages and other URLs by id.
func (ls *Links) all(yield func(schema.ID) bool) {
	for id := schema.ID(1); int(id) <= ls.core.urls() && yield(id); id++ {
	}
}

// EachIn is [Links.Each] for the given pages, in their order. URLs that are not pages have no links.
func (ls *Links) EachIn(pages iter.Seq[schema.ID], f LinkFunc) error {
	each := ls.each
	if ls.core.ever {
		each = ls.eachEver
	}
	return ls.siteWide.mark(func(f LinkFunc) error { return each(pages, f) }, f)
}

// EachOf is [Links.EachIn] without anchors.
func (ls *Links) EachOf(pages []schema.ID, f LinkFunc) error {
	if ls.core.ever {
		return ls.EachIn(slices.Values(pages), f)
	}
	return ls.siteWide.mark(func(f LinkFunc) error { return ls.eachOf(pages, f) }, f)
}

// SiteWide reports whether a link leads to a target that most pages of the host link to. The first
// call reads the links of all pages.
func (ls *Links) SiteWide(from schema.ID, l schema.Link) (bool, error) {
	if err := ls.siteWide.derive(); err != nil {
		return false, err
	}
	return ls.siteWide.has(from, &l), nil
}

// each is EachIn without marks.
func (ls *Links) each(pages iter.Seq[schema.ID], f LinkFunc) error {
	return ls.core.view(func(tx *kv.Tx) error {
		var block []linking
		links := 0
		tell := func() error {
			if err := fillAnchors(tx, block); err != nil {
				return err
			}
			for _, l := range block {
				for i, link := range l.visit.Links {
					if err := f(l.page, link, ls.core.unpruned(l.first[i]), ls.core.unpruned(l.last)); err != nil {
						return err
					}
				}
			}
			block, links = nil, 0
			return nil
		}
		for id := range pages {
			if !ls.core.speaks(id) {
				continue
			}
			l, err := ls.linking(tx, id)
			if err != nil {
				return err
			}
			if n := len(l.visit.Links); n > 0 {
				links += n
				block = append(block, l)
			}
			if links >= blockLinks || len(block) >= blockPages {
				if err := tell(); err != nil {
					return err
				}
			}
		}
		return tell()
	})
}

// eachOf is EachOf without marks.
func (ls *Links) eachOf(pages []schema.ID, f LinkFunc) error {
	return ls.core.view(func(tx *kv.Tx) error {
		var one linking
		for _, id := range pages {
			if !ls.core.speaks(id) {
				continue
			}
			if err := ls.core.live(); err != nil {
				return err
			}
			links, err := ls.bare(tx, id, &one)
			if err != nil {
				return err
			}
			for i := range links {
				if err := f(id, links[i], ls.core.unpruned(one.first[i]), ls.core.unpruned(one.last)); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// bare reads the links of a page without anchors into one, with the runs that saw them. For a
// survey with a single run there is no history to read.
func (ls *Links) bare(tx *kv.Tx, id schema.ID, one *linking) ([]schema.Link, error) {
	if len(ls.core.runs) > 1 {
		var err error
		if *one, err = ls.linking(tx, id); err != nil {
			return nil, err
		}
		return one.visit.Links, nil
	}
	if one.visit == nil {
		one.visit, one.last = &schema.Visit{}, ls.core.run.ID
	}
	links, err := ls.stands.append(tx, one.visit.Links[:0], id)
	one.visit.Links = links
	for len(one.first) < len(links) {
		one.first = append(one.first, one.last)
	}
	return links, err
}

// A linking is a page with the visit that holds its current links, see [kv.Visits.SkimAt].
type linking struct {
	page  schema.ID
	visit *schema.Visit
	first []schema.RunID // by link: the first run that saw it
	last  schema.RunID
}

// fillAnchors reads the anchors of links in the order in which they were written.
func fillAnchors(tx *kv.Tx, block []linking) error {
	written := make([]*schema.Visit, len(block))
	for i := range block {
		written[i] = block[i].visit
	}
	slices.SortFunc(written, func(a, b *schema.Visit) int { return cmp.Compare(a.Seq, b.Seq) })
	for _, v := range written {
		if err := tx.Visits.Anchors(v); err != nil {
			return err
		}
	}
	return nil
}

// PageLinks are the current links of a page, by target.
type PageLinks struct {
	Page  schema.ID
	Links []schema.Link
	First []schema.RunID // by link: the first run that saw it
	Last  schema.RunID
}

// Range returns the current links of the pages from one id to another, with their anchors if
// requested. It does not mark site-wide links; see [Links.SiteWide].
func (ls *Links) Range(from, to schema.ID, anchors bool) (all []PageLinks, err error) {
	var block []linking
	err = ls.core.view(func(tx *kv.Tx) error {
		for id := from; id <= min(to, schema.ID(ls.core.urls())); id++ {
			if !ls.core.speaks(id) {
				continue
			}
			l, err := ls.linking(tx, id)
			if err != nil {
				return err
			}
			block = append(block, l)
		}
		if anchors {
			return fillAnchors(tx, block)
		}
		return nil
	})
	for _, l := range block {
		for i := range l.first {
			l.first[i] = ls.core.unpruned(l.first[i])
		}
		all = append(all, PageLinks{l.page, l.visit.Links, l.first, ls.core.unpruned(l.last)})
	}
	return all, err
}

// linking reads the visit that holds the links of a page, without anchors.
func (ls *Links) linking(tx *kv.Tx, id schema.ID) (linking, error) {
	v := &schema.Visit{}
	if err := errors.Join(tx.Visits.SkimAt(ls.core.latest(id), v), ls.core.live()); err != nil {
		return linking{}, err
	}
	l := linking{page: id, visit: v, last: v.Run}
	prev := v.Prev
	if v.Stand != 0 {
		if err := skimStanding(tx, v); err != nil {
			return l, err
		}
	}
	if err := ls.stands.knows(id, l.visit.Links); err != nil {
		return l, err
	}
	l.first = make([]schema.RunID, len(l.visit.Links))
	for i := range l.first {
		l.first[i] = l.visit.Run
	}
	return l, ls.lookBack(tx, &l, prev)
}

// lookBack finds the first run that saw each link of a page, in the visits from
// prev back.
func (ls *Links) lookBack(tx *kv.Tx, l *linking, prev schema.Seq) error {
	var v schema.Visit
	for prev != 0 && len(l.first) > 0 {
		if err := tx.Visits.SkimAt(prev, &v); err != nil {
			return err
		}
		if v.URL != l.visit.URL {
			return kv.OfAnother(prev, l.visit.URL)
		}
		for i, j := 0, 0; i < len(l.visit.Links) && j < len(v.Links); {
			switch a, b := l.visit.Links[i].To, v.Links[j].To; {
			case a < b:
				i++
			case a > b:
				j++
			default:
				l.first[i] = min(l.first[i], v.Run)
				i, j = i+1, j+1
			}
		}
		prev = v.Prev
	}
	return nil
}

// Out returns the current links of a page, with their anchors.
func (ls *Links) Out(id schema.ID) ([]schema.Link, error) {
	if !ls.core.speaks(id) {
		return nil, nil
	}
	var links []schema.Link
	err := ls.core.view(func(tx *kv.Tx) error {
		v, err := ls.stands.anchored(tx, id)
		if err == nil {
			links = v.Links
		}
		return err
	})
	return links, err
}

// linkTo finds a link among links sorted by target.
func linkTo(links []schema.Link, to schema.ID) (schema.Link, bool) {
	i, ok := slices.BinarySearchFunc(links, to, func(l schema.Link, to schema.ID) int { return cmp.Compare(l.To, to) })
	if !ok {
		return schema.Link{}, false
	}
	return links[i], true
}

// EachTarget calls f for the ends of the current links, by the page that links. It is much cheaper
// than [Links.Each].
func (ls *Links) EachTarget(f func(from, to schema.ID)) error {
	return ls.core.view(func(tx *kv.Tx) error {
		var buf []schema.Link
		for from := schema.ID(1); int(from) <= ls.core.urls(); from++ {
			if !ls.core.speaks(from) {
				continue
			}
			err := ls.core.live()
			if err != nil {
				return err
			}
			if buf, err = ls.stands.append(tx, buf[:0], from); err != nil {
				return err
			}
			for i := range buf {
				f(from, buf[i].To)
			}
		}
		return nil
	})
}

// EachWritten is [Links.Each], page by page in the order in which they were written. It is several
// times as fast, but yields no anchors, and the run of the survey as the only run that saw a link.
// For [Survey.Ever] it is no faster.
func (ls *Links) EachWritten(f LinkFunc) error {
	if ls.core.ever {
		return ls.Each(f)
	}
	if err := ls.siteWide.derive(); err != nil {
		return err
	}
	return ls.stands.each(ls.core.speaks, nil, func(l *kv.Linked) error {
		for _, link := range l.Links {
			link.SiteWide = ls.siteWide.has(l.URL, &link)
			if err := f(l.URL, link, ls.core.run.ID, ls.core.run.ID); err != nil {
				return err
			}
		}
		return nil
	})
}

// EachTargetWritten is [Links.EachTarget] page by page in the order in which they were
// written, which is several times as fast.
func (ls *Links) EachTargetWritten(f func(from, to schema.ID)) error {
	return ls.stands.eachTarget(func(l *kv.Targeted) error {
		for _, to := range l.To {
			f(l.URL, to)
		}
		return nil
	})
}
