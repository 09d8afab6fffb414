package crawl

import (
	"time"

	"github.com/sumi-ripple/ripple/kv"
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

// list notes what a sitemap says of pages that an earlier run has visited.
func (r *recorder) list(entries []schema.SitemapEntry) {
	for _, e := range entries {
		every := period(e.ChangeFreq)
		if seq := r.store.Latest(e.To); seq == 0 || seq >= r.run.FirstVisit || e.LastMod.IsZero() && every < 0 {
			continue
		}
		l, known := r.listed[e.To]
		if !known {
			l.every = -1
		}
		if e.LastMod.After(l.changed) {
			l.changed = e.LastMod
		}
		if every >= 0 && (l.every < 0 || every < l.every) {
			l.every = every
		}
		r.listed[e.To] = l
	}
}

// listAgain notes what the sitemaps say that were read in this run before this
// process began.
func (r *recorder) listAgain() error {
	return r.store.View(func(tx *kv.Tx) error {
		for id := schema.ID(1); int(id) <= r.store.URLs(); id++ {
			if r.store.Kind(id) != schema.KindSitemap || r.store.Latest(id) < r.run.FirstVisit {
				continue
			}
			v, err := tx.Visit(r.store.Latest(id))
			if err != nil {
				return err
			}
			r.list(v.Sitemap)
		}
		return nil
	})
}

// stands reports whether a page need not be asked again, because its visit is
// younger than min-age or its sitemap says that it has not changed since.
func (t *turn) stands(v *schema.Visit) bool {
	if age := t.now.Sub(v.At); age >= 0 && age < t.set.cfg.Recrawl.MinAge {
		return true
	}
	l, known := t.listed[v.URL]
	return known && l.spares(v.At, t.now)
}

// sitemapConditional reports whether a sitemap may be asked for only if it has
// changed: all that it named was recorded, so nothing is lost by not reading it.
func sitemapConditional(v *schema.Visit) bool {
	return v.Distinct == len(v.Sitemap) && v.Children == len(v.Links)
}

// keepSitemap gives a visit of a sitemap that has not changed what the one before
// named.
func keepSitemap(visit, before *schema.Visit) {
	visit.Stand = 0
	visit.Links, visit.Sitemap, visit.Children = before.Links, before.Sitemap, before.Children
}
