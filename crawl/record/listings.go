package record

import (
	"slices"
	"time"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// A listing is what the sitemaps of this run for which a page counts say about it.
type listing struct {
	changed time.Time // the latest lastmod that is believed; zero: there is none
	by      schema.ID // the first of them that speaks for its host, else the first of all
	speaks  bool      // that one does
}

// A standing is what a sitemap is to a host whose pages it names, if they count by it.
type standing struct {
	speaks bool // for the host; else it is on another host of the same origin
	dated  bool // its dates are believed
}

// spares reports whether a page that was visited at a time is as it was then. Of a visit
// that is yet to come, by a clock that was wrong, a date says nothing.
func (l listing) spares(visited, now time.Time) bool {
	return !visited.After(now) && !l.changed.IsZero() && endOf(l.changed).Before(visited)
}

// endOf is the last moment that a lastmod may mean: without a time of day, which
// reads as midnight, it is the end of the day or, on the first of a month or
// year, of the whole of it, anywhere in the world.
func endOf(lastmod time.Time) time.Time {
	if h, m, s := lastmod.Clock(); h+m+s > 0 {
		return lastmod
	}
	const anywhere = 12 * time.Hour
	switch {
	case lastmod.YearDay() == 1:
		return lastmod.AddDate(1, 0, 0).Add(anywhere)
	case lastmod.Day() == 1:
		return lastmod.AddDate(0, 1, 0).Add(anywhere)
	}
	return lastmod.AddDate(0, 0, 1).Add(anywhere)
}

// minSameDates is how many pages a sitemap gives one date at least where that says when the sitemap
// was written, and not when they have changed.
const minSameDates = 10

// believedDates reports whether the dates of a sitemap differ, or are few.
func believedDates(v *schema.Visit) bool {
	return len(v.Sitemap) < minSameDates || slices.ContainsFunc(v.Sitemap, func(e schema.SitemapEntry) bool {
		return !e.LastMod.Equal(v.Sitemap[0].LastMod)
	})
}

// listings are what the sitemaps of this run say of pages that an earlier run has
// visited, and of foreign ones.
type listings map[schema.ID]listing

// note takes what a sitemap says of a page, and reports whether that is new. Only one that speaks for the host says
// when the page has changed. A date in the future, or of a sitemap whose dates are not believed, does not say that the
// page is as it was: it counts as that of the run.
func (all listings) note(in *runState, v *schema.Visit, e schema.SitemapEntry, s standing) bool {
	l := listing{by: v.URL, speaks: s.speaks}
	if s.speaks {
		l.changed = e.LastMod
	}
	if !l.changed.IsZero() && (!s.dated || e.LastMod.After(v.At)) {
		l.changed = in.run.Started.Add(time.Second) // it is cut to seconds
	}
	return all.add(in, e.To, l)
}

func (all listings) add(in *runState, id schema.ID, said listing) bool {
	if !in.foreign(id) && (!in.known(id) || said.changed.IsZero()) {
		return false
	}
	before, known := all[id]
	l := before
	if !known || said.speaks && !l.speaks {
		l.by, l.speaks = said.by, said.speaks
	}
	if said.changed.After(l.changed) {
		l.changed = said.changed
	}
	all[id] = l
	return !known || l != before
}

// recall notes what the sitemaps say of pages of origins that were read in this run before this process
// began, and belong to it still, and what other shards have told.
func (r *reach) recallListings() error {
	clear(r.listings)
	err := r.in.eachSitemap(func(v *schema.Visit) error {
		return r.eachEntry(v, func(e schema.SitemapEntry, s standing) error {
			r.listings.note(r.in, v, e, s)
			return nil
		})
	})
	if err != nil {
		return err
	}
	return r.in.eachTold(1, func(id schema.ID, told schema.Inbound) bool {
		if told.Listed {
			r.listings.add(r.in, id, listing{changed: told.Changed})
		}
		return true
	})
}

// eachSitemap calls f for the sitemaps that were read in this run and belong to it.
func (in *runState) eachSitemap(f func(*schema.Visit) error) error {
	for id := schema.ID(1); int(id) <= in.store.URLs(); id++ {
		if depth, _ := in.store.Depth(id); depth == kv.NoDepth || in.isPage(id) || !in.visited(id) {
			continue
		}
		v, err := in.tx.Visits.At(in.store.Latest(id))
		if err == nil {
			err = f(v)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// spares reports whether a page need not be asked again, because its visit is younger
// than min-age or its sitemap says that it has not changed since.
func (all listings) spares(in *runState, v *schema.Visit) bool {
	if in.young(v) {
		return true
	}
	l, known := all[v.URL]
	return known && l.spares(v.At, in.now)
}
