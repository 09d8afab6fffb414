package record

import (
	"net/http"
	"slices"
	"time"

	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/scope"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// urls records URLs, their hosts, and the forms in which they are named, within the limits of [traps].
type urls struct {
	in       *runState
	hosts    *hosts
	written  int         // bytes of URLs and forms recorded since the process began
	reformed []schema.ID // visited pages with a new form, since takeReformed
}

// record returns the id of a target, and records it if it is new. The id is 0 if a limit keeps the target out.
func (u *urls) record(to ring.Target, kind schema.URLKind, referrer schema.ID) (schema.ID, error) {
	if referrer == 0 {
		return u.note(to, kind, 0, byTelling)
	}
	return u.note(to, kind, referrer, byLink)
}

// A mention is the way in which a URL is found.
type mention uint8

const (
	byLink       mention = iota // or a sitemap; an unrecorded target is counted each time
	byTelling                   // may be repeated at every start, so it counts once
	bySeed                      // always recorded
	bySpeaker                   // a sitemap that speaks for the host
	byOwnTelling                // byTelling, of a URL that is the host's own or named by robots.txt
)

// note is record with the way in which the target was found.
func (u *urls) note(to ring.Target, kind schema.URLKind, referrer schema.ID, how mention) (schema.ID, error) {
	name, pathQuery := weburl.Split(to.Norm)
	host, err := u.hosts.find(name)
	if err == nil && host == 0 {
		if host, err = u.addHost(name, referrer, how); err != nil || host == 0 {
			return 0, err
		}
	}
	changed := false
	if err == nil && !to.HTTP {
		changed, err = u.hosts.seenHTTPS(host)
	}
	if err != nil {
		return 0, err
	}
	id, ok, err := u.in.tx.URLs.Lookup(to.Hash, host, kind, pathQuery)
	if err != nil {
		return 0, err
	}
	if !ok {
		id, err = u.add(schema.URL{Kind: kind, Host: host, PathQuery: pathQuery, Referrer: referrer}, to.Hash, how)
		if err != nil || id == 0 {
			return 0, err
		}
	}
	if how == bySeed || how == bySpeaker || referrer != 0 && u.speaksFor(u.in.store.HostOf(referrer), host) {
		to.Own = 1 + len(to.Forms)
	}
	added, err := u.addForms(id, to)
	if added {
		u.written += sizeOf(to)
	}
	if err == nil && (added || changed) && u.in.store.Foreign(host) {
		return id, u.hosts.mark(id)
	}
	if added && ok && kind == schema.KindPage && u.in.visited(id) {
		u.reformed = append(u.reformed, id)
	}
	return id, err
}

func (u *urls) addForms(id schema.ID, to ring.Target) (added bool, err error) {
	added, err = u.in.tx.URLs.AddForm(id, to.Norm, to.Form, to.Own > 0)
	for i, form := range to.Forms {
		if err == nil {
			var more bool
			more, err = u.in.tx.URLs.AddForm(id, to.Norm, form, i+1 < to.Own)
			added = added || more
		}
	}
	return added, err
}

// speaksFor reports whether forms named by pages of one host count as own forms of another, see [schema.Forms].
func (u *urls) speaksFor(by, host schema.HostID) bool {
	return by == host || u.hosts.facts(by).own && !u.hosts.facts(host).own
}

// miss notes the forms at which a visit found nothing.
func (u *urls) miss(o *ring.Outcome) error {
	missing := o.Step.Visit.Missing
	if o.Answered() && (o.Status == http.StatusNotFound || o.Status == http.StatusGone) {
		missing = append(slices.Clip(missing), o.Step.URL)
	}
	if len(missing) == 0 {
		return nil
	}
	return u.in.tx.URLs.MissForms(o.Step.ID, missing)
}

// add records a new URL; its ID is ignored.
func (u *urls) add(url schema.URL, hash uint64, how mention) (schema.ID, error) {
	h, err := u.hosts.load(url.Host)
	if err != nil {
		return 0, err
	}
	u.hosts.put(h)
	limit, own := u.in.set.Config.Traps.MaxURLsPerHost, u.own(&url, how)
	room := limit - h.Others // the host's own pages have as many places as all others
	if own {
		room = limit - (h.Known - h.Files - h.Others)
	}
	switch page := url.Kind == schema.KindPage; {
	case page && limit > 0 && room <= 0 && how != bySeed:
		if how == byLink || how == bySpeaker || h.Overflow == 0 {
			h.Overflow++
		}
		return 0, nil
	case !page && limit > 0 && h.Files >= mostFiles(limit, how): // files have places of their own
		return 0, nil
	case !page:
		h.Files++
	case !own:
		h.Others++
	}
	h.Known++
	url.FirstSeen, url.FirstRun = u.in.now.Truncate(time.Second), u.in.run.ID
	return u.in.tx.URLs.Add(url, hash)
}

// mostFiles returns how many sitemaps of a host are recorded: twice the limit, of which only those that the host names
// itself take the second half.
func mostFiles(limit int, how mention) int {
	if how == byLink || how == byTelling {
		return limit
	}
	return 2 * limit
}

// own reports whether a new page is its host's own, as known now.
func (u *urls) own(url *schema.URL, how mention) bool {
	if how == bySeed || how == bySpeaker || how == byOwnTelling || url.PathQuery == "/" {
		return true
	}
	return url.Referrer != 0 && u.in.isPage(url.Referrer) && u.hosts.vouches(url.Referrer, url.Host)
}

// addHost records a new host. Its id is 0 if [traps] max-hosts-per-site keeps it out. Hosts named by the site itself or
// by an origin are counted separately from those that only other sites name. Hosts of origins are not counted.
func (u *urls) addHost(name string, referrer schema.ID, how mention) (schema.HostID, error) {
	limit, site := u.in.set.Config.Traps.MaxHostsPerSite, weburl.Site(name)
	if limit <= 0 || site == name || len(u.in.set.Scope.OriginsOf(name)) > 0 {
		return u.hosts.identify(name)
	}
	place, err := u.placeOf(site, referrer, how)
	if err != nil {
		return 0, err
	}
	count := scope.CountOfPlace(place)
	n, err := u.in.tx.Runs.Total(count, site)
	if err != nil {
		return 0, err
	}
	if n >= limit {
		return 0, u.in.tx.Runs.CountUp(scope.CountSiteOverflow, site, u.in.run.ID)
	}
	id, err := u.hosts.identify(name)
	if err != nil {
		return 0, err
	}
	h, err := u.hosts.load(id)
	if err != nil {
		return 0, err
	}
	h.Place = place
	u.hosts.put(h)
	return id, u.in.tx.Runs.AddToTotal(count, site, u.in.run.ID)
}

// placeOf returns the place that a new host of a site takes, depending on what names it.
func (u *urls) placeOf(site string, referrer schema.ID, how mention) (schema.SitePlace, error) {
	if how == bySeed || how == bySpeaker || how == byOwnTelling {
		return schema.OwnPlace, nil
	}
	if referrer == 0 {
		return schema.OtherPlace, nil
	}
	from := u.in.store.HostOf(referrer)
	if u.hosts.facts(from).own {
		return schema.OwnPlace, nil
	}
	name, err := u.in.tx.Hosts.Name(from)
	if err != nil || weburl.Site(name) != site {
		return schema.OtherPlace, err
	}
	return schema.OwnPlace, nil
}

// takeReformed returns the visited pages for which a new form was found. The slice is valid until the next record.
func (u *urls) takeReformed() []schema.ID {
	met := u.reformed
	u.reformed = u.reformed[:0]
	return met
}
