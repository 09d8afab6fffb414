package record

import (
	"maps"
	"net/http"
	"slices"

	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/crawl/robots"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/shard"
)

// usualSitemaps are the paths of the sitemaps that are requested if a robots.txt names none on its
// own site that may exist. A sitemap on another site does not count: it may belong to another
// shard, which alone knows whether it exists, and the map must not depend on how the terrain is
// divided.
var usualSitemaps = []string{"/sitemap.xml", "/sitemap_index.xml", "/sitemap-index.xml", "/wp-sitemap.xml"}

// mostNamed is the largest number of sitemaps in a robots.txt for which the list is checked
// whenever one of them is missing. A host that names more has sitemaps, and each check would cost
// as much as reading the whole file.
const mostNamed = 100

// recommendations is where a site has its list of links in OPML, by convention. It is
// requested as a sitemap is, since nothing links to it: if there is none, that is no dead link.
var recommendations = []string{"/.well-known/recommendations.opml"}

// queueSitemaps queues the sitemaps that a host's robots.txt names, or those at the usual paths; and of a host with a
// seed the list of links.
func (t *turn) queueSitemaps(h *schema.Host, rules *robots.Rules) error {
	h.SitemapsRun = t.in.run.ID
	files, left := t.reach.sitemapsAt(h, rules.Sitemaps())
	h.SitemapsLeft = max(h.SitemapsLeft, left) // possibly queued before in this run
	t.hosts.put(h)
	if err := t.queueEach(h, files); err != nil {
		return err
	}
	if t.in.set.Config.Crawler.OPML && len(t.in.seeds.hosts[h.ID]) > 0 {
		lists, _ := t.reach.sitemapsAt(h, recommendations)
		if err := t.queueEach(h, lists); err != nil {
			return err
		}
	}
	return t.queueUsual(h, files)
}

// queueUsual queues the sitemaps at the usual paths of a host if all that its robots.txt names on its own site are
// missing.
func (t *turn) queueUsual(h *schema.Host, named []ring.Target) error {
	if len(named) > mostNamed {
		return nil
	}
	for _, file := range named {
		if !shard.SameSite(h.Name, file.Host()) {
			continue
		}
		if missing, err := t.missing(file); err != nil || !missing {
			return err
		}
	}
	usual, _ := t.reach.sitemapsAt(h, usualSitemaps)
	return t.queueEach(h, usual)
}

func (t *turn) queueEach(h *schema.Host, files []ring.Target) error {
	for _, file := range files {
		if err := t.queueSitemap(h, file); err != nil {
			return err
		}
	}
	return nil
}

// queueUsualFor queues the usual sitemaps of the hosts whose robots.txt names a sitemap that was
// just found to be missing, and no other one that may exist.
func (t *turn) queueUsualFor(sitemap schema.ID) error {
	if missing, err := t.missingFile(sitemap, 0); err != nil || !missing {
		return err
	}
	for _, voucher := range slices.Sorted(maps.Keys(t.in.speaks[sitemap])) {
		id, err := t.hosts.find(voucher)
		if err != nil {
			return err
		}
		if id == 0 || !t.hosts.facts(id).own {
			continue
		}
		h, err := t.hosts.load(id)
		if err == nil && h.SitemapsRun == t.in.run.ID {
			err = t.queueUsualAgain(h)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// outOfReach reports a host that was given up in this run because it cannot be reached.
func (t *turn) outOfReach(h *schema.Host) bool {
	return h.Run == t.in.run.ID && h.RunGivenUp == schema.GaveUpConnection
}

// queueUsualForLost is queueUsualFor for all sitemaps on hosts that were given up.
func (t *turn) queueUsualForLost() error {
	if len(t.hosts.lost) == 0 {
		return nil
	}
	lost := t.hosts.lost
	t.hosts.lost = nil
	var missing []schema.ID
	for sitemap := range t.in.speaks {
		if slices.Contains(lost, t.in.store.HostOf(sitemap)) {
			missing = append(missing, sitemap)
		}
	}
	slices.Sort(missing) // the queue must not depend on the order of a map
	for _, sitemap := range missing {
		if err := t.queueUsualFor(sitemap); err != nil {
			return err
		}
	}
	return nil
}

// queueUsualAgain is queueUsual for a host whose own sitemaps were queued before.
func (t *turn) queueUsualAgain(h *schema.Host) error {
	rules, err := t.robots.ofVisit(h)
	if err != nil || rules == nil || len(rules.Sitemaps()) > mostNamed {
		return err
	}
	named, _ := t.reach.sitemapsAt(h, rules.Sitemaps())
	return t.queueUsual(h, named)
}

// missing reports whether a sitemap was requested in this run and is missing.
func (t *turn) missing(file ring.Target) (bool, error) {
	id, err := t.urls.record(file, schema.KindSitemap, 0)
	if err != nil || id == 0 {
		return false, err
	}
	return t.missingFile(id, 0)
}

// missingFile reports whether a sitemap was requested in this run, and the answer shows that there
// is none: by its status, by a body that is not a sitemap, or by a redirect to a missing one or to
// another site. A sitemap on a host that was given up because it cannot be reached counts as
// missing, too. Other errors of the server or the connection show nothing.
func (t *turn) missingFile(id schema.ID, hops int) (bool, error) {
	if !t.in.visited(id) {
		h, err := t.hosts.load(t.in.store.HostOf(id))
		return err == nil && t.outOfReach(h), err
	}
	v, err := t.in.tx.Visits.At(t.in.latest(id))
	if err != nil {
		return false, err
	}
	if v.State != schema.Processed {
		cause := v.Reason.Cause
		return v.Final() || cause == schema.CauseSitemap || cause == schema.CauseBadLocation, nil
	}
	if v.Status < 300 || v.Status == http.StatusNotModified {
		return false, nil
	}
	from, err := t.in.tx.Hosts.Name(t.in.store.HostOf(id))
	if err != nil {
		return false, err
	}
	for _, l := range v.Links {
		if hops == schema.MaxRedirects {
			break
		}
		to, err := t.in.tx.Hosts.Name(t.in.store.HostOf(l.To))
		if err != nil {
			return false, err
		}
		if !shard.SameSite(from, to) {
			continue
		}
		if missing, err := t.missingFile(l.To, hops+1); err != nil || !missing {
			return false, err
		}
	}
	return true, nil
}
