package crawl

import (
	"cmp"
	"slices"

	"github.com/sumi-ripple/ripple/crawl/robots"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

const (
	maxSitemapFiles = 200 // a host and run
	maxSitemapDepth = 16  // of indexes in indexes
)

// queueSitemaps queues the sitemaps of a quality host, once a run: those that
// its robots.txt names, else those at the usual paths (SPEC 7).
func (t *turn) queueSitemaps(h *schema.Host, rules *robots.Rules) error {
	if t.set.cfg.Crawler.Sitemaps == config.SitemapsOff || h.SitemapsRun == t.run.ID || !t.hostFacts(h.ID).own {
		return nil
	}
	h.SitemapsRun = t.run.ID
	t.tx.PutHost(h)
	authority := "https://" + h.Name
	if h.WWW {
		authority = "https://www." + h.Name
	}
	named := rules.Sitemaps()
	if len(named) == 0 {
		named = []string{"/sitemap.xml", "/sitemap_index.xml"}
	}
	base, err := t.set.rules.Base(authority + "/robots.txt")
	if err != nil {
		return nil // a host name that is no URL has no sitemaps
	}
	for _, ref := range named {
		u, err := base.Parse(ref)
		if err != nil {
			continue
		}
		to := Target{URL: u, Hash: t.store.Hash(schema.KindSitemap, u.Norm)}
		if err := t.queueSitemap(to, 0, 0); err != nil {
			return err
		}
	}
	return nil
}

// queueSitemap records and queues one file.
func (t *turn) queueSitemap(to Target, depth uint8, referrer schema.ID) error {
	if !t.set.terrain.Classify(to.Norm).Class.Visitable() {
		return nil
	}
	id, err := t.intern(to, schema.KindSitemap, referrer)
	if err != nil || id == 0 {
		return err
	}
	return t.queueFile(id, depth)
}

// queueFile queues a sitemap; depth counts the indexes above it. A file that was
// read in this run passes its pages on again.
func (t *turn) queueFile(id schema.ID, depth uint8) error {
	old, _ := t.store.Depth(id)
	if old <= depth || depth >= maxSitemapDepth {
		return nil
	}
	if old == kv.NoDepth {
		h, err := t.host(t.store.HostOf(id))
		if err != nil || h.SitemapFiles >= maxSitemapFiles {
			return err
		}
		h.SitemapFiles++
		t.tx.PutHost(h)
	}
	t.tx.SetDepth(id, depth, 0)
	if t.visited(id) {
		t.work = append(t.work, id)
		return nil
	}
	return t.push(id, prioritySitemap)
}

// sitemapTargets records the pages and files that a sitemap names. Only pages
// of an origin count.
func (t *turn) sitemapTargets(o *Outcome, visit *schema.Visit) error {
	visit.Distinct, visit.Children = len(o.Entries), len(o.Files)
	for i, to := range o.Entries {
		if to.Norm == "" || len(t.set.terrain.OriginsOf(to.Host())) == 0 {
			continue
		}
		id, err := t.intern(to, schema.KindPage, 0)
		if err != nil {
			return err
		}
		if id != 0 {
			e := o.Sitemap.Entries[i]
			visit.Sitemap = append(visit.Sitemap, schema.SitemapEntry{To: id, LastMod: e.LastMod, ChangeFreq: e.ChangeFreq})
		}
	}
	return t.sitemapFiles(o.Files, visit)
}

// sitemapFiles records the files that an index names, or a redirect.
func (t *turn) sitemapFiles(files []Target, visit *schema.Visit) error {
	for _, to := range files {
		if to.Norm == "" || !t.set.terrain.Classify(to.Norm).Class.Visitable() {
			continue
		}
		to.Hash = t.store.Hash(schema.KindSitemap, to.Norm)
		id, err := t.intern(to, schema.KindSitemap, visit.URL)
		if err != nil {
			return err
		}
		if id != 0 && id != visit.URL {
			visit.Links = append(visit.Links, schema.Link{To: id, Kinds: schema.Kinds(0).Add(schema.LinkAnchor)})
		}
	}
	visit.Links = distinctLinks(visit.Links)
	return nil
}

// distinctLinks sorts links by target and keeps one of each.
func distinctLinks(links []schema.Link) []schema.Link {
	slices.SortFunc(links, func(a, b schema.Link) int { return cmp.Compare(a.To, b.To) })
	return slices.CompactFunc(links, func(a, b schema.Link) bool { return a.To == b.To })
}

// passOnSitemap queues the files that an index names, and gives the pages of a
// sitemap their depth.
func (t *turn) passOnSitemap(id schema.ID) error {
	v, err := t.tx.Visit(t.store.Latest(id))
	if err != nil {
		return err
	}
	t.list(v.Sitemap)
	depth, _ := t.store.Depth(id)
	for _, file := range v.Links {
		if err := t.queueFile(file.To, depth+1); err != nil {
			return err
		}
	}
	for _, e := range v.Sitemap {
		if err := t.relax(e.To, 0, 0, true); err != nil {
			return err
		}
	}
	return nil
}
