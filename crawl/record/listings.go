package record

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
// A lastmod says more than a changefreq; of a visit that is yet to come, by a clock that
// was wrong, neither says anything.
func (l listing) spares(visited, now time.Time) bool {
	switch {
	case visited.After(now):
		return false
	case !l.changed.IsZero():
		return endOf(l.changed).Before(visited)
	}
	return l.every >= 0 && now.Sub(visited) < l.every
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
// visited, and of foreign ones.
type listings map[schema.ID]listing

// note takes what a sitemap says of a page, and reports whether that is new.
func (all listings) note(in *scope, e schema.SitemapEntry) bool {
	return all.add(in, e.To, listing{e.LastMod, period(e.ChangeFreq)})
}

func (all listings) add(in *scope, id schema.ID, said listing) bool {
	if !in.foreign(id) && (!in.known(id) || said.changed.IsZero() && said.every < 0) {
		return false
	}
	l, known := all[id]
	before := l
	if !known {
		l.every = -1
	}
	if said.changed.After(l.changed) {
		l.changed = said.changed
	}
	if said.every >= 0 && (l.every < 0 || said.every < l.every) {
		l.every = said.every
	}
	all[id] = l
	return !known || l != before
}

// recall notes what the sitemaps say of pages of origins that were read in this run before this process
// began, and belong to it still, and what other shards have told.
func (all listings) recall(in *scope, own func(schema.ID) bool) error {
	for id := schema.ID(1); int(id) <= in.store.URLs(); id++ {
		if depth, _ := in.store.Depth(id); depth == kv.NoDepth || in.isPage(id) || !in.visited(id) {
			continue
		}
		v, err := in.tx.Visits.At(in.store.Latest(id))
		if err != nil {
			return err
		}
		for _, e := range v.Sitemap {
			if own(e.To) {
				all.note(in, e)
			}
		}
	}
	return in.eachTold(1, func(id schema.ID, told schema.Inbound) bool {
		if told.Listed {
			all.add(in, id, listing{told.Changed, told.Every})
		}
		return true
	})
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
