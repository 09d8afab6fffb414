package survey

import (
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

// eachSitemapEntry calls f for every page that a sitemap names, with the sitemap and the page's
// URL: by sitemap, then in its order.
func (c *core) eachSitemapEntry(f func(sitemap schema.ID, url string, e schema.SitemapEntry) error) error {
	return c.view(func(*kv.Tx) error {
		for id := schema.ID(1); int(id) <= c.urls(); id++ {
			norm, entries, err := c.sitemap(id)
			if err != nil {
				return err
			}
			for _, e := range entries {
				if err := f(id, norm, e); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// eachListed calls f for the pages of origins in the sitemaps for which in holds. A sitemap counts
// if it speaks for the page's host, which then counts as naming the page itself, or belongs to the
// same origin. Package record implements the same rule, to apply it during a crawl.
func (c *core) eachListed(in func(sitemap schema.ID) bool, f func(page schema.ID, own bool)) error {
	return c.view(func(tx *kv.Tx) error {
		each := func(f func(*schema.Visit) error) error {
			for id := schema.ID(1); int(id) <= c.urls(); id++ {
				if c.store.Kind(id) != schema.KindSitemap || !in(id) {
					continue
				}
				v, err := tx.Visits.At(c.latest(id))
				if err == nil {
					err = f(v)
				}
				if err != nil {
					return err
				}
			}
			return nil
		}
		speaks, err := ReadSpeakers(tx, c.store, c.cfg, c.run.ID, func(f func(schema.ID, []schema.Link)) error {
			return each(func(v *schema.Visit) error { f(v.URL, v.Links); return nil })
		})
		if err != nil {
			return err
		}
		return each(func(v *schema.Visit) error { return c.eachListedBy(tx, v, speaks, f) })
	})
}

// eachListedBy is eachListed for one sitemap.
func (c *core) eachListedBy(tx *kv.Tx, v *schema.Visit, speaks Speakers, f func(page schema.ID, own bool)) error {
	type standing struct{ counts, own bool }
	hosts, home := map[schema.HostID]standing{}, c.store.HostOf(v.URL)
	from, err := tx.Hosts.Name(home)
	for i := 0; i < len(v.Sitemap) && err == nil; i++ {
		page := v.Sitemap[i].To
		host := c.store.HostOf(page)
		s, known := hosts[host]
		if !known {
			var name string
			if name, err = tx.Hosts.Name(host); err != nil {
				break
			}
			s.own = host == home || len(speaks.Vouchers(c.scope, v.URL, name)) > 0
			s.counts = len(c.scope.OriginsOf(name)) > 0 && (s.own || c.scope.SameOrigin(from, name))
			hosts[host] = s
		}
		if s.counts {
			f(page, s.own)
		}
	}
	return err
}

// sitemap returns the URL of a sitemap that the run has read, and its entries. For other URLs it
// returns nothing.
func (c *core) sitemap(id schema.ID) (norm string, entries []schema.SitemapEntry, err error) {
	if c.store.Kind(id) != schema.KindSitemap || !c.visited(id) {
		return "", nil, nil
	}
	err = c.view(func(tx *kv.Tx) error {
		v, err := tx.Visits.At(c.latest(id))
		if err != nil {
			return err
		}
		for _, e := range v.Sitemap {
			if int(e.To) > c.urls() {
				return unknown(id, e.To)
			}
		}
		entries = v.Sitemap
		norm, err = tx.URLs.Norm(id)
		return err
	})
	return norm, entries, err
}

// ofRun reports whether a sitemap that was read in the run belongs to it. One that does not was
// read under a configuration that has changed since. For an older run, only its last configuration
// can be used, with what it says of sitemaps and origins.
func (c *core) ofRun(id schema.ID) bool {
	if c.past == nil {
		return c.inRun(id)
	}
	return c.cfg.Crawler.Sitemaps != config.SitemapsOff
}
