package record

import (
	"errors"

	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/crawl/sitemap"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

const maxSitemapDepth = 16 // of indexes in indexes

// sitemapsDue reports whether the sitemaps of a host must still be queued in this run: the host is
// an origin's, and sitemaps are read.
func (r *reach) sitemapsDue(h *schema.Host) bool {
	return r.in.set.Config.Crawler.Sitemaps != config.SitemapsOff && h.SitemapsRun != r.in.run.ID &&
		r.hosts.facts(h.ID).own
}

// sitemapsAt returns the sitemaps that references in a host's robots.txt name. left is the number
// of those that are not requested because they are on too many other hosts.
func (r *reach) sitemapsAt(h *schema.Host, refs []string) (files []ring.Target, left int) {
	authority := "https://" + h.Name
	if h.WWW {
		authority = "https://www." + h.Name
	}
	foreign := foreignHosts{site: weburl.Site(h.Name), most: r.in.set.Config.Traps.MaxSitemapHosts}
	for _, value := range refs {
		for _, ref := range sitemap.Named(value, authority+"/robots.txt") {
			u, err := r.in.set.Rules.Parse(ref)
			switch {
			case err != nil || !r.in.set.Scope.Classify(u.Norm).Class.Visitable():
			case !foreign.accept(u.Host()):
				left++
			default:
				files = append(files, ring.Target{URL: u, Hash: r.in.store.Hash(schema.KindSitemap, u.Norm)})
			}
		}
	}
	return files, left
}

// foreignHosts collects the hosts outside a site, up to a limit, in the order in which it meets them.
type foreignHosts struct {
	site  string
	most  int // 0: any number
	hosts map[string]bool
}

// accept reports whether a host is of the site, or one of the first outside it.
func (f *foreignHosts) accept(host string) bool {
	if f.most <= 0 || f.hosts[host] || weburl.Site(host) == f.site {
		return true
	}
	if len(f.hosts) >= f.most {
		return false
	}
	if f.hosts == nil {
		f.hosts = map[string]bool{}
	}
	f.hosts[host] = true
	return true
}

// leadsOut reports whether a sitemap on a host leads where sitemaps may not lead: out of its site,
// to a host of no origin on which no robots.txt names a sitemap.
func (d *visitBuilder) leadsOut(from *schema.Host, host string) (bool, error) {
	if d.in.set.Config.Traps.MaxSitemapHosts <= 0 || weburl.Site(host) == weburl.Site(from.Name) ||
		len(d.in.set.Scope.OriginsOf(host)) > 0 {
		return false, nil
	}
	id, err := d.urls.hosts.find(host)
	if err != nil || id == 0 {
		return true, err
	}
	h, err := d.urls.hosts.load(id)
	return err == nil && h.SitemapsFor != d.in.run.ID, err
}

// queueFile queues a sitemap; depth counts the indexes above it. A file that was read in this run
// passes its pages on again. A file on an origin's host that only others name waits behind the
// pages of the host, and never takes the place of those that the host names.
func (r *reach) queueFile(id schema.ID, depth uint8) error {
	old, _ := r.in.store.Depth(id)
	if old <= depth || depth >= maxSitemapDepth {
		return nil
	}
	own, err := r.ownFile(id)
	if err != nil {
		return err
	}
	if ok, err := r.hosts.visitable(id); err != nil || !ok { // the index may have been read while it was
		return err
	}
	if old == kv.NoDepth {
		h, err := r.hosts.load(r.in.store.HostOf(id))
		if err != nil {
			return err
		}
		n, most := &h.SitemapFiles, schema.MaxSitemapFiles
		if !own {
			n, most = &h.SitemapOthers, schema.MaxSitemapOthers
		}
		if *n >= most {
			return nil
		}
		*n++
		r.hosts.put(h)
	}
	r.in.tx.Depths.Lower(id, depth, 0)
	if r.in.visited(id) {
		r.work = append(r.work, id)
		return nil
	}
	return r.push(id, filePriority(own))
}

func filePriority(own bool) uint8 {
	if own {
		return schema.PrioritySitemap
	}
	return schema.PriorityOthersSitemap
}

// ownFile reports whether a sitemap is on a host of no origin, or is named by its host, by another
// host of the same origin, or by the configuration.
func (r *reach) ownFile(id schema.ID) (bool, error) {
	if !r.ofOrigin(id) {
		return true, nil
	}
	host, err := r.in.tx.Hosts.Name(r.in.store.HostOf(id))
	if err != nil {
		return false, err
	}
	for voucher := range r.in.speaks[id] {
		if survey.IsOriginVoucher(voucher) || r.in.set.Scope.SameOrigin(voucher, host) {
			return true, nil
		}
	}
	return false, nil
}

// promote moves a sitemap that only other hosts have named so far to the front of the line of its
// host. It keeps its place among those.
func (r *reach) promote(id schema.ID) error {
	if depth, _ := r.in.store.Depth(id); depth == kv.NoDepth || r.in.visited(id) {
		return nil
	}
	return r.push(id, schema.PrioritySitemap)
}

// carrySitemap queues the files that an index names, with its vouchers. The pages that a sitemap
// names count as named by their own hosts, with their depth. Pages of other hosts of its origin go
// to the end of their hosts' lines; pages of other origins are only recorded.
func (r *reach) carrySitemap(visit *schema.Visit) error {
	depth, _ := r.in.store.Depth(visit.URL)
	for _, file := range visit.Links {
		err := r.grow(file.To, func() bool { return r.in.speaks.PassOn(visit.URL, file.To) })
		if err == nil {
			err = r.queueFile(file.To, depth+1)
		}
		if err != nil {
			return err
		}
	}
	return r.eachEntry(visit, func(e schema.SitemapEntry, s authority) error {
		err := r.relax(e.To, way{own: s.speaks, bySitemap: true})
		if s.speaks {
			err = errors.Join(err, r.hosts.vouch(r.in.store.HostOf(e.To)))
		}
		if r.listings.note(r.in, visit, e, s) && r.in.foreign(e.To) {
			err = errors.Join(err, r.hosts.mark(e.To))
		}
		return err
	})
}

// eachEntry calls f for the pages that a sitemap names on hosts of origins that it speaks for, or
// on other hosts of its origin. Package survey implements the same rule, to check the stored
// results.
func (r *reach) eachEntry(v *schema.Visit, f func(e schema.SitemapEntry, s authority) error) error {
	type met struct {
		authority
		counts bool
	}
	dated, known := believedDates(v), map[schema.HostID]met{}
	own, err := r.in.tx.Hosts.Name(r.in.store.HostOf(v.URL))
	if err != nil {
		return err
	}
	for _, e := range v.Sitemap {
		if !r.ofOrigin(e.To) {
			continue
		}
		host := r.in.store.HostOf(e.To)
		s, ok := known[host]
		if !ok {
			name, err := r.in.tx.Hosts.Name(host)
			if err != nil {
				return err
			}
			s.authority = authority{speaks: r.in.speaksFor(v.URL, host, name), dated: dated}
			s.counts = s.speaks || r.in.set.Scope.SameOrigin(own, name)
			known[host] = s
		}
		if !s.counts {
			continue
		}
		if err := f(e, s.authority); err != nil {
			return err
		}
	}
	return nil
}

// speaksFor reports whether a sitemap speaks for a host.
func (in *runState) speaksFor(sitemap schema.ID, host schema.HostID, name string) bool {
	return in.store.HostOf(sitemap) == host || len(in.speaks.Vouchers(in.set.Scope, sitemap, name)) > 0
}

// vouch records in memory that a sitemap has a voucher; a host's voucher is also recorded in the
// file.
func (r *reach) vouch(sitemap schema.ID, voucher string) error {
	return r.grow(sitemap, func() bool { return r.in.speaks.Add(sitemap, voucher) })
}

// grow applies the new vouchers of a sitemap to its pages and to the files it leads to, if add adds
// one.
func (r *reach) grow(sitemap schema.ID, add func() bool) error {
	before, err := r.ownFile(sitemap)
	if err != nil || !add() {
		return err
	}
	if r.in.foreign(sitemap) {
		return r.hosts.mark(sitemap)
	}
	if own, err := r.ownFile(sitemap); err != nil {
		return err
	} else if own && !before {
		if err := r.promote(sitemap); err != nil {
			return err
		}
	}
	if depth, _ := r.in.store.Depth(sitemap); depth != kv.NoDepth && r.in.visited(sitemap) {
		r.work = append(r.work, sitemap)
	}
	return nil
}

// vouchInFile records in the file that a sitemap has a voucher, unless it has too many.
func (r *reach) vouchInFile(sitemap schema.ID, voucher string) error {
	added, err := r.in.tx.Vouchers.Add(sitemap, voucher, r.in.run.ID)
	if err != nil || !added {
		return err
	}
	return r.vouch(sitemap, voucher)
}

// recallSpeakers reads the vouchers of this run's sitemaps.
func (r *reach) recallSpeakers() (err error) {
	files := func(f func(schema.ID, []schema.Link)) error {
		return r.in.eachSitemap(func(v *schema.Visit) error { f(v.URL, v.Links); return nil })
	}
	r.in.speaks, err = survey.ReadSpeakers(r.in.tx, r.in.store, r.in.set.Config, r.in.run.ID, files)
	return err
}
