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

// usualSitemaps are the paths at which sitemaps are looked for where robots.txt names none on its own site that may be
// there. A sitemap on another site does not count: it may belong to another shard, which alone knows whether it is
// there, and the map must not depend on how the terrain is divided.
var usualSitemaps = []string{"/sitemap.xml", "/sitemap_index.xml", "/sitemap-index.xml", "/wp-sitemap.xml"}

// mostNamed is how many sitemaps a robots.txt may name to be looked through again whenever one of them is missing. A
// host that names more has sitemaps, and each look would cost as much as reading the whole file.
const mostNamed = 100

// queueSitemaps queues the sitemaps that robots.txt of a host names, or those at the usual paths.
func (t *turn) queueSitemaps(h *schema.Host, rules *robots.Rules) error {
	h.SitemapsRun = t.in.run.ID
	files, left := t.reach.sitemapsAt(h, rules.Sitemaps())
	h.SitemapsLeft = max(h.SitemapsLeft, left) // perhaps queued before in this run
	t.hosts.put(h)
	if err := t.queueEach(h, files); err != nil {
		return err
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

// queueUsualFor queues the sitemaps at the usual paths of the hosts whose robots.txt leads to a sitemap that was just
// asked for and is missing, and to no other one that may be there.
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

// queueUsualForLost is queueUsualFor of all sitemaps on hosts that were given up.
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
	slices.Sort(missing) // what is queued does not depend on the order of a map
	for _, sitemap := range missing {
		if err := t.queueUsualFor(sitemap); err != nil {
			return err
		}
	}
	return nil
}

// queueUsualAgain is queueUsual of a host whose own sitemaps were queued before.
func (t *turn) queueUsualAgain(h *schema.Host) error {
	rules, err := t.robots.standing(h)
	if err != nil || rules == nil || len(rules.Sitemaps()) > mostNamed {
		return err
	}
	named, _ := t.reach.sitemapsAt(h, rules.Sitemaps())
	return t.queueUsual(h, named)
}

// missing reports whether a sitemap was asked for in this run and is missing.
func (t *turn) missing(file ring.Target) (bool, error) {
	id, err := t.urls.record(file, schema.KindSitemap, 0)
	if err != nil || id == 0 {
		return false, err
	}
	return t.missingFile(id, 0)
}

// missingFile reports whether a sitemap was asked for in this run, and an answer says that there is none: its status,
// a body that is no sitemap, or a redirect to what is missing or on another site. So is one on a host that was given up
// because it cannot be reached. Other errors of the server or the connection say nothing.
func (t *turn) missingFile(id schema.ID, hops int) (bool, error) {
	if !t.in.visited(id) {
		h, err := t.hosts.load(t.in.store.HostOf(id))
		return err == nil && t.outOfReach(h), err
	}
	v, err := t.in.tx.Visits.At(t.in.store.Latest(id))
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
