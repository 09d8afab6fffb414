package survey

import (
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

// eachSitemapEntry calls f for every page that a sitemap names, with the sitemap and its
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

// sitemap returns the URL of a sitemap that the run has read, and what it names; of
// other URLs nothing.
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

// ofRun reports whether a sitemap that was read in the run belongs to it. One that
// does not was read under a configuration that has changed since; of an older run it
// can only be told by what the last one says of sitemaps and origins.
func (c *core) ofRun(id schema.ID) bool {
	if c.past == nil {
		return c.inRun(id)
	}
	return c.cfg.Crawler.Sitemaps != config.SitemapsOff
}
