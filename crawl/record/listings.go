package record

import (
	"slices"
	"time"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// A listing is what the sitemaps of this run that count for a page say about it.
type listing struct {
	changed time.Time // the latest lastmod that is believed; zero: none
	by      schema.ID // the first of them that speaks for the page's host, otherwise the first of all
	speaks  bool      // by speaks for the page's host
}

// An authority says how a sitemap counts for a host whose pages it names.
type authority struct {
	speaks bool // it speaks for the host; otherwise it is on another host of the same origin
	dated  bool // its dates are believed
}

// spares reports whether a page is unchanged since a visit. If a wrong clock has put the visit into
// the future, a date says nothing about it.
func (l listing) spares(visited, now time.Time) bool {
	return !visited.After(now) && !l.changed.IsZero() && endOf(l.changed).Before(visited)
}

// endOf returns the latest moment that a lastmod may mean. Without a time of day, which is read as
// midnight, that is the end of the day or, for the first of a month or year, the end of that,
// anywhere in the world.
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

// minSameDates is the number of pages with one date from which on that date is taken for the time
// at which the sitemap was written.
const minSameDates = 10

// believedDates reports whether the dates of a sitemap differ, or are few.
func believedDates(v *schema.Visit) bool {
	return len(v.Sitemap) < minSameDates || slices.ContainsFunc(v.Sitemap, func(e schema.SitemapEntry) bool {
		return !e.LastMod.Equal(v.Sitemap[0].LastMod)
	})
}

// listings are what the sitemaps of this run say about foreign pages and about pages that an
// earlier run has visited.
type listings map[schema.ID]listing

// note records what a sitemap says about a page, and reports whether that is new.
func (all listings) note(in *runState, v *schema.Visit, e schema.SitemapEntry, s authority) bool {
	return all.add(in, e.To, in.listingOf(v, e, s))
}

// listingOf returns what a sitemap says about a page. Dates of change count only in a sitemap that speaks for the host.
// A date in the future, or from a sitemap whose dates are not trusted, counts as the date of the run, so the page is
// requested.
func (in *runState) listingOf(v *schema.Visit, e schema.SitemapEntry, s authority) listing {
	l := listing{by: v.URL, speaks: s.speaks}
	if s.speaks {
		l.changed = e.LastMod
	}
	if !l.changed.IsZero() && (!s.dated || e.LastMod.After(v.At)) {
		l.changed = in.run.Started.Add(time.Second) // it is truncated to seconds
	}
	return l
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

// recallListings reads what sitemaps that were read in this run before this process began, and
// still belong to it, say about pages of origins, and what other shards have reported.
func (r *reach) recallListings() error {
	clear(r.listings)
	err := r.in.eachSitemap(func(v *schema.Visit) error {
		return r.eachEntry(v, func(e schema.SitemapEntry, s authority) error {
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
		v, err := in.tx.Visits.At(in.latest(id))
		if err == nil {
			err = f(v)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// spares reports whether a page need not be requested again, because its visit is younger than
// min-age or its sitemap says that it has not changed since.
func (all listings) spares(in *runState, v *schema.Visit) bool {
	if in.young(v) {
		return true
	}
	l, known := all[v.URL]
	return known && l.spares(v.At, in.now)
}
