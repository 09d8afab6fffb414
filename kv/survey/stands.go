package survey

import (
	"cmp"
	"fmt"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// stands knows which visits hold the current links and facts of pages: the last visit, or an
// earlier one that the last visit refers to.
type stands struct {
	core  *core
	stand []uint32 // by id, see [stands.of]; 0, or nil: the last visit
	stood bool     // stand has been derived
}

// A standFunc is called for a page with its current links, by ascending target and without anchors.
// They are valid while it runs. NoFollow is what the page itself asks for.
type standFunc func(l *kv.Linked) error

func everyPage(schema.ID) bool { return true }

// unknown returns [kv.ErrDamaged] for a page that names a URL which its run could not know.
func unknown(page, to schema.ID) error {
	return fmt.Errorf("%w: page %d names URL %d, which its run does not know", kv.ErrDamaged, page, to)
}

// each calls f for every wanted page with current links to a target for which to holds (nil: to
// any), in the order in which they were written. The file is read from start to end, which is many
// times as fast as looking up the visits page by page.
func (st *stands) each(want, to func(page schema.ID) bool, f standFunc) error {
	if err := st.find(); err != nil {
		return err
	}
	stands := func(seq schema.Seq, page schema.ID) bool { return st.holds(seq, page) && want(page) }
	return st.core.view(func(tx *kv.Tx) error {
		return tx.Visits.EachLinks(stands, to, func(l *kv.Linked) error {
			if err := st.core.live(); err != nil || len(l.Links) == 0 {
				return err
			}
			if to := l.Links[len(l.Links)-1].To; int(to) > st.core.urls() {
				return unknown(l.URL, to)
			}
			return f(l)
		})
	})
}

// eachTarget is each for every page that speaks, with the targets of links only.
func (st *stands) eachTarget(f func(l *kv.Targeted) error) error {
	if err := st.find(); err != nil {
		return err
	}
	return st.core.view(func(tx *kv.Tx) error {
		return tx.Visits.EachTargets(1, st.speaking, func(l *kv.Targeted) error {
			if err := st.core.live(); err != nil || len(l.To) == 0 {
				return err
			}
			if to := l.To[len(l.To)-1]; int(to) > st.core.urls() {
				return unknown(l.URL, to)
			}
			return f(l)
		})
	})
}

// titles calls f for every page with a title.
func (st *stands) titles(f func(schema.ID, string) error) error {
	if err := st.find(); err != nil {
		return err
	}
	return st.core.view(func(tx *kv.Tx) error {
		return tx.Visits.Titles(st.holds, func(id schema.ID, title string) error {
			if err := st.core.live(); err != nil {
				return err
			}
			return f(id, title)
		})
	})
}

// speaking is holds for the pages that speak.
func (st *stands) speaking(seq schema.Seq, page schema.ID) bool {
	return st.holds(seq, page) && st.core.speaks(page)
}

// holds reports whether a visit holds the current links of a page.
func (st *stands) holds(seq schema.Seq, page schema.ID) bool {
	return st.core.isPage(page) && st.of(page) == seq
}

// of returns the visit that holds the current links of a page; 0: none does.
func (st *stands) of(page schema.ID) schema.Seq {
	if st.stand != nil && st.stand[page] != 0 {
		return schema.Seq(st.stand[page])
	}
	return st.core.latest(page)
}

// find finds the visits that hold the current links, unless no page of the file has been visited
// twice.
func (st *stands) find() error {
	if st.stood = st.stood || st.visitedOnce(); st.stood {
		return nil
	}
	var s stander
	last := func(seq schema.Seq, id schema.ID) bool { return st.core.isPage(id) && st.core.latest(id) == seq }
	err := st.core.view(func(tx *kv.Tx) error {
		return tx.Visits.EachTargets(1, last, func(l *kv.Targeted) error {
			s.note(st.core, l.URL, l.Stand)
			return st.core.live()
		})
	})
	if err == nil {
		st.stand, st.stood = s.stand, true
	}
	return err
}

// visitedOnce reports whether no URL has two visits.
func (st *stands) visitedOnce() bool {
	visited := schema.Seq(0)
	for id := schema.ID(1); int(id) <= st.core.store.URLs(); id++ {
		if st.core.store.Latest(id) != 0 {
			visited++
		}
	}
	return visited == st.core.store.LastSeq()
}

// stander records visits whose links are the current ones of a page's last visit.
type stander struct{ stand []uint32 }

// note records the visit for the last visit of a page; 0: its own links are current.
func (s *stander) note(c *core, page schema.ID, stand schema.Seq) {
	if stand == 0 {
		return
	}
	if s.stand == nil {
		s.stand = make([]uint32, c.urls()+1)
	}
	s.stand[page] = uint32(stand)
}

// anchored returns the visit that holds the links of a page, like [kv.Visits.SkimAt] but with their
// anchors.
func (st *stands) anchored(tx *kv.Tx, id schema.ID) (*schema.Visit, error) {
	v := &schema.Visit{}
	err := tx.Visits.SkimAt(st.core.latest(id), v)
	if err == nil && v.Stand != 0 {
		err = skimStanding(tx, v)
	}
	if err != nil {
		return nil, err
	}
	return v, tx.Visits.Anchors(v)
}

// skimStanding reads into v the visit that holds the links for it.
func skimStanding(tx *kv.Tx, v *schema.Visit) error {
	url := v.URL
	if err := tx.Visits.SkimAt(v.Stand, v); err != nil || v.URL == url {
		return err
	}
	return kv.OfAnother(v.Seq, url)
}

// knows returns [kv.ErrDamaged] if a page has links, given by ascending target, to a URL that the
// run could not know.
func (st *stands) knows(page schema.ID, links []schema.Link) error {
	if n := len(links); n > 0 && int(links[n-1].To) > st.core.urls() {
		return unknown(page, links[n-1].To)
	}
	return nil
}

// append appends the current links of a page, without anchors, to none.
func (st *stands) append(tx *kv.Tx, none []schema.Link, page schema.ID) ([]schema.Link, error) {
	seq := st.core.latest(page)
	links, err := tx.Visits.AppendLinks(none, seq, page)
	if err == nil && len(links) == 0 {
		var v schema.Visit // without links of its own: small
		if err = tx.Visits.SkimAt(seq, &v); err == nil && v.Stand != 0 {
			links, err = tx.Visits.AppendLinks(links, v.Stand, page)
		}
	}
	if err == nil {
		err = st.knows(page, links)
	}
	return links, err
}

// visit returns a visit with its current links and facts.
func (st *stands) visit(tx *kv.Tx, seq schema.Seq) (*schema.Visit, error) {
	v, err := tx.Visits.At(seq)
	if err != nil || v.Stand == 0 {
		return v, err
	}
	from, err := tx.Visits.At(v.Stand)
	if err != nil {
		return nil, err
	}
	if from.URL != v.URL {
		return nil, kv.OfAnother(from.Seq, v.URL)
	}
	stand(v, from)
	return v, nil
}

// stand makes a visit say what another one says of the page. Its preferences remain: robots.txt may have changed since
// the other visit.
func stand(v, from *schema.Visit) {
	said := v.Preferences
	v.Links, v.Content = from.Links, from.Content
	v.Preferences = said
	if v.Length < 0 || v.SHA256 == [32]byte{} {
		v.Length, v.SHA256 = from.Length, from.SHA256
	}
	v.ContentType = cmp.Or(v.ContentType, from.ContentType)
	v.LastModified = cmp.Or(v.LastModified, from.LastModified)
	v.ETag = cmp.Or(v.ETag, from.ETag)
	v.StoredPath = cmp.Or(v.StoredPath, from.StoredPath)
}
