package survey

import (
	"cmp"
	"fmt"

	"github.com/dustin/go-humanize"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/amount"
	"github.com/sumi-ripple/ripple/schema/scope"
)

// LinksOmitted returns the number of links of a page that were not recorded: those beyond
// max-links-per-page, those that the limits of [traps] left out, and those that are not a URL or
// longer than max-length.
func (p *Page) LinksOmitted() int {
	if p.Visit == nil {
		return 0
	}
	return max(0, p.Visit.Distinct-p.LinkCount) + p.Visit.Refused
}

// addOmitted counts the unrecorded links of a page that speaks.
func (ts *tallies) addOmitted(t *tally, p *Page) {
	n := p.LinksOmitted()
	if n == 0 || !ts.core.visitedSince(p.ID) || !p.Class.Visitable() {
		return
	}
	t.counts.LinksOmitted += n
	t.counts.LinksRefused += p.Visit.Refused
	h := &t.hosts[p.Host]
	h.omitted += uint32(n)
	h.refused += uint32(p.Visit.Refused)
	h.beyondHosts += uint32(p.Visit.BeyondHosts)
	h.beyondText += uint32(p.Visit.BeyondText)
	n -= p.Visit.Refused
	limit := cmp.Or(p.Visit.LinkLimit, ts.core.cfg.Crawler.LinksPerPage())
	beyond := max(0, min(n, p.Visit.Distinct-limit))
	if beyond > 0 {
		h.beyond += uint32(beyond)
		h.limit = max(h.limit, limit)
	}
	if p.Visit.Kept || p.Visit.Stand != 0 {
		t.counts.leftBefore += max(0, n-beyond-p.Visit.BeyondHosts-p.Visit.BeyondText)
	}
}

// lackLinks says that links of a host's pages were left out; ok: there were any.
func (cv *coverage) lackLinks(t *hostTally) (l lack, ok bool) {
	n := amount.Of(int(t.beyond), "link", "links")
	why := fmt.Sprintf("%s left out (max-links-per-page = %d)", n, t.limit)
	return lack{cover: CoverTrap, why: why}, t.beyond > 0
}

// lackURLs says that links of a host's pages were left out because they are not URLs. The host
// still counts as complete.
func (cv *coverage) lackURLs(t *hostTally) (l lack, ok bool) {
	n := amount.Of(int(t.refused), "link", "links")
	why := fmt.Sprintf("%s left out (no URL, or max-length = %d)", n, cv.core.cfg.URL.MaxLength)
	return lack{cover: CoverComplete, why: why}, t.refused > 0
}

// lackSitemaps says that sitemaps on other sites were not read; ok: there were any.
func (cv *coverage) lackSitemaps(r *schema.Host) (l lack, ok bool) {
	n := amount.Of(r.SitemapsLeft, "sitemap", "sitemaps")
	why := fmt.Sprintf("%s not read (max-sitemap-hosts = %d)", n, cv.core.cfg.Traps.MaxSitemapHosts)
	return lack{cover: CoverTrap, why: why}, r.SitemapsLeft > 0 && r.Run == cv.core.run.ID
}

// lackFiles says that sitemaps of a host were not read because it has too many.
func (cv *coverage) lackFiles(r *schema.Host) (l lack, ok bool) {
	n := r.Files - r.SitemapFiles - r.SitemapOthers
	limit, full := fmt.Sprintf("at most %d of a host", schema.MaxSitemapFiles), r.SitemapFiles >= schema.MaxSitemapFiles
	if !full {
		limit = fmt.Sprintf("at most %d that only other hosts name", schema.MaxSitemapOthers)
		full = r.SitemapOthers >= schema.MaxSitemapOthers
	}
	why := fmt.Sprintf("%s not read (%s)", amount.Of(n, "sitemap", "sitemaps"), limit)
	return lack{cover: CoverTrap, why: why}, full && n > 0 && r.Run == cv.core.run.ID
}

// lackHosts says that links to hosts were left out because a page named too many.
func (cv *coverage) lackHosts(t *hostTally) (l lack, ok bool) {
	n := amount.Of(int(t.beyondHosts), "link", "links")
	why := fmt.Sprintf("%s left out (max-hosts-per-page = %d)", n, cv.core.cfg.Traps.MaxHostsPerPage)
	return lack{cover: CoverTrap, why: why}, t.beyondHosts > 0
}

// lackText says that links were left out because the text of their URLs exceeds the limit.
func (cv *coverage) lackText(t *hostTally) (l lack, ok bool) {
	n := amount.Of(int(t.beyondText), "link", "links")
	why := fmt.Sprintf("%s left out (at most %s of URLs a page, %s a site)", n,
		humanize.IBytes(schema.MaxLinkText), humanize.IBytes(schema.MaxSiteText))
	return lack{cover: CoverTrap, why: why}, t.beyondText > 0
}

// A CutSite is a site with hosts that were found and not recorded.
type CutSite struct {
	Site     string
	Hosts    int    // recorded
	Overflow int    // links to unrecorded hosts
	Limit    string // "max-hosts-per-site = 1000", possibly with whose hosts it limits
}

// CutSites returns the sites of which the run left out hosts, in the order of their first hosts.
// For an older run it returns none, because they are no longer known.
func CutSites(s *Survey) ([]CutSite, error) {
	var cut []CutSite
	err := s.core.view(func(tx *kv.Tx) (err error) {
		cut, err = s.coverage.cutSites(tx)
		return err
	})
	return cut, err
}

// cutSites finds them once.
func (cv *coverage) cutSites(tx *kv.Tx) ([]CutSite, error) {
	if cv.overflow != nil || cv.core.past != nil {
		return cv.cut, nil
	}
	left, err := cv.tallies.leftBefore()
	if err != nil {
		return nil, err
	}
	limit := cv.core.cfg.Traps.MaxHostsPerSite
	cut, overflow := []CutSite(nil), map[string]int{}
	sites, err := cv.sites(tx)
	for i := 0; i < len(sites) && err == nil; i++ {
		one := sites[i]
		if left == 0 && (one.Hosts < limit || limit <= 0) {
			continue
		}
		if one.Overflow, err = siteOverflow(tx, one.Site, left); err == nil && one.Overflow > 0 {
			one.Limit, err = siteLimit(tx, one.Site, limit)
			cut, overflow[one.Site] = append(cut, one), one.Overflow
		}
	}
	if err != nil {
		return nil, err
	}
	cv.cut, cv.overflow = cut, overflow
	return cut, nil
}

// siteOverflow returns how many links lead to unrecorded hosts of a site: those of the run, and
// those counted before it, of which at most left can still be current.
func siteOverflow(tx *kv.Tx, site string, left int) (int, error) {
	now, err := tx.Runs.Count(scope.CountSiteOverflow, site)
	if err != nil || left == 0 {
		return now, err
	}
	before, err := tx.Runs.CountBefore(scope.CountSiteOverflow, site)
	return now + min(before, left), err
}

// siteLimit returns the limit on the hosts of a site that was reached.
func siteLimit(tx *kv.Tx, site string, limit int) (string, error) {
	const key = "max-hosts-per-site"
	own, err := tx.Runs.Total(scope.CountSiteHosts, site)
	if err != nil || own >= limit {
		return limitOf(key, limit, true), err
	}
	others, err := tx.Runs.Total(scope.CountSiteOthers, site)
	if err != nil || others < limit {
		return limitOf(key, limit, false), err
	}
	return limitOf(key, limit, true) + " for hosts that only other sites name", nil
}

// overflow returns how many URLs of a host were not recorded, counted in the same way.
func overflow(h *schema.Host, run schema.RunID, left int) int {
	if h.Run == run {
		return h.Overflow + min(h.OverflowBefore, left)
	}
	return min(max(h.Overflow, h.OverflowBefore), left)
}

// limitOf returns a limit that was reached: the present value, unless that was not reached.
func limitOf(key string, limit int, reached bool) string {
	if limit <= 0 || !reached {
		return key + " of an earlier run"
	}
	return fmt.Sprintf("%s = %d", key, limit)
}

// sites returns all sites with their number of hosts.
func (cv *coverage) sites(tx *kv.Tx) ([]CutSite, error) {
	var sites []CutSite
	at := map[string]int{}
	for id := 1; id <= cv.core.store.Hosts(); id++ {
		h, err := cv.hosts.host(tx, schema.HostID(id))
		if err != nil {
			return nil, err
		}
		i, ok := at[h.site]
		if !ok {
			i = len(sites)
			at[h.site] = i
			sites = append(sites, CutSite{Site: h.site})
		}
		sites[i].Hosts++
	}
	return sites, nil
}
