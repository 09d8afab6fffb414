package survey

import (
	"cmp"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// anchored returns the visit that holds the links of a page, as [kv.Visits.SkimAt] reads it
// but with their anchors.
func (c *core) anchored(tx *kv.Tx, id schema.ID) (*schema.Visit, error) {
	v := &schema.Visit{}
	err := tx.Visits.SkimAt(c.latest(id), v)
	if err == nil && v.Stand != 0 {
		err = skimStanding(tx, v)
	}
	if err != nil {
		return nil, err
	}
	return v, tx.Visits.Anchors(v)
}

// skimStanding reads the visit that holds the links of another one in its place.
func skimStanding(tx *kv.Tx, v *schema.Visit) error {
	url := v.URL
	if err := tx.Visits.SkimAt(v.Stand, v); err != nil || v.URL == url {
		return err
	}
	return kv.OfAnother(v.Seq, url)
}

// knows reports with [kv.ErrDamaged] a page with links, by ascending target, to a URL that the run
// could not know.
func (c *core) knows(page schema.ID, links []schema.Link) error {
	if n := len(links); n > 0 && int(links[n-1].To) > c.urls() {
		return unknown(page, links[n-1].To)
	}
	return nil
}

// appendLinks appends the links of a page that stand, without anchors, to none.
func (c *core) appendLinks(tx *kv.Tx, none []schema.Link, page schema.ID) ([]schema.Link, error) {
	seq := c.latest(page)
	links, err := tx.Visits.AppendLinks(none, seq, page)
	if err == nil && len(links) == 0 {
		var v schema.Visit // without links of its own: small
		if err = tx.Visits.SkimAt(seq, &v); err == nil && v.Stand != 0 {
			links, err = tx.Visits.AppendLinks(links, v.Stand, page)
		}
	}
	if err == nil {
		err = c.knows(page, links)
	}
	return links, err
}

// standing returns a visit with the links and facts that stand.
func (c *core) standing(tx *kv.Tx, seq schema.Seq) (*schema.Visit, error) {
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
	v.Facts, v.Title = from.Facts, from.Title
	if v.Length < 0 || v.SHA256 == [32]byte{} {
		v.Length, v.SHA256 = from.Length, from.SHA256
	}
	v.ContentType = cmp.Or(v.ContentType, from.ContentType)
	v.LastModified = cmp.Or(v.LastModified, from.LastModified)
	v.ETag = cmp.Or(v.ETag, from.ETag)
	v.StoredPath = cmp.Or(v.StoredPath, from.StoredPath)
	return v, nil
}

// stand lets v say of links, and of how a page asks for them to be treated, what from says.
func stand(v, from *schema.Visit) {
	v.Links, v.Charset = from.Links, from.Charset
	v.Distinct, v.BeyondHosts, v.LinkLimit = from.Distinct, from.BeyondHosts, from.LinkLimit
	v.NoIndex, v.NoFollow, v.Shell = from.NoIndex, from.NoFollow, from.Shell
	v.Rendering, v.RenderAsked = from.Rendering, from.RenderAsked
}

// eachSitemapEntry calls f for every page that a sitemap names, with the URL of
// the sitemap: by sitemap, then in its order.
func (c *core) eachSitemapEntry(f func(sitemap string, e schema.SitemapEntry) error) error {
	return c.view(func(*kv.Tx) error {
		for id := schema.ID(1); int(id) <= c.urls(); id++ {
			norm, entries, err := c.sitemap(id)
			if err != nil {
				return err
			}
			for _, e := range entries {
				if err := f(norm, e); err != nil {
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
