package record

import (
	"time"

	"github.com/sumi-ripple/ripple/schema"
)

// A listing is what the sitemaps of this run say about when a page changes. Of
// several that name it, the one that makes a visit likelier counts.
type listing struct {
	changed time.Time     // the latest lastmod; zero: none is given
	every   time.Duration // the shortest changefreq; negative: none is given
}

// spares reports whether a page that was visited at a time is as it was then.
// A lastmod says more than a changefreq.
func (l listing) spares(visited, now time.Time) bool {
	if !l.changed.IsZero() {
		return endOf(l.changed).Before(visited)
	}
	return l.every >= 0 && !visited.After(now) && now.Sub(visited) < l.every
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

// period is how long a changefreq promises that a page stays as it is; negative:
// it promises nothing.
func period(changefreq string) time.Duration {
	const day = 24 * time.Hour
	switch changefreq {
	case "always":
		return 0
	case "hourly":
		return time.Hour
	case "daily":
		return day
	case "weekly":
		return 7 * day
	case "monthly":
		return 30 * day
	case "yearly":
		return 365 * day
	case "never":
		return 1<<63 - 1
	}
	return -1
}

// listings are what the sitemaps of this run say of pages that an earlier run has
// visited.
type listings map[schema.ID]listing

// note takes what a sitemap says.
func (all listings) note(in *scope, entries []schema.SitemapEntry) {
	for _, e := range entries {
		every := period(e.ChangeFreq)
		if !in.known(e.To) || e.LastMod.IsZero() && every < 0 {
			continue
		}
		l, known := all[e.To]
		if !known {
			l.every = -1
		}
		if e.LastMod.After(l.changed) {
			l.changed = e.LastMod
		}
		if every >= 0 && (l.every < 0 || every < l.every) {
			l.every = every
		}
		all[e.To] = l
	}
}

// recall notes what the sitemaps say that were read in this run before this process
// began.
func (all listings) recall(in *scope) error {
	for id := schema.ID(1); int(id) <= in.store.URLs(); id++ {
		if in.isPage(id) || !in.visited(id) {
			continue
		}
		v, err := in.tx.Visits.At(in.store.Latest(id))
		if err != nil {
			return err
		}
		all.note(in, v.Sitemap)
	}
	return nil
}

// spares reports whether a page need not be asked again, because its visit is younger
// than min-age or its sitemap says that it has not changed since.
func (all listings) spares(in *scope, v *schema.Visit) bool {
	if in.young(v) {
		return true
	}
	l, known := all[v.URL]
	return known && l.spares(v.At, in.now)
}
