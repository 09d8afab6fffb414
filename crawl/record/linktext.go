package record

import (
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/scope"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// The bytes of URLs that a host's pages add are counted for its site in steps of at most maxTextStep, because counting
// every page would cost a write each. maxSiteText leaves room for the bytes that its hosts have not counted yet.
const (
	maxTextStep   = 16 << 10
	uncountedText = 32 << 20 // of all hosts of a site together, at most
	maxSiteText   = schema.MaxSiteText - uncountedText
)

// textStep returns the number of bytes that a host adds before they are counted. [traps] max-hosts-per-site holds for
// hosts that the site or an origin names and, separately, for all others; the host named like the site is in neither.
func (u *urls) textStep() int {
	limit := u.in.set.Config.Traps.MaxHostsPerSite
	if limit <= 0 {
		return 0 // any number of hosts: every page is counted
	}
	return min(maxTextStep, uncountedText/(2*limit+1))
}

// A linkText limits the text of the URLs that the links of one page add. A page may name a thousand
// times its size on the wire.
type linkText struct {
	urls    *urls
	host    schema.HostID
	site    string // "": of an origin, whose links have no common limit
	read    int    // of the page's targets so far
	written int    // of urls, before the page
	full    bool   // the site may add no more
}

func (u *urls) textOf(host schema.HostID) (linkText, error) {
	t := linkText{urls: u, host: host, written: u.written}
	if u.hosts.facts(host).own {
		return t, nil
	}
	name, err := u.in.tx.Hosts.Name(host)
	if err != nil {
		return t, err
	}
	t.site = weburl.Site(name)
	n, err := u.in.tx.Runs.Count(scope.CountSiteText, t.site)
	t.full = n >= maxSiteText
	return t, err
}

// accept reports whether a target of the page is recorded; targets come in document order. If the
// site has reached its limit, links to known pages are still recorded.
func (t *linkText) accept(to ring.Target) (bool, error) {
	if t.read += sizeOf(to); t.read > schema.MaxLinkText {
		return false, nil
	}
	if !t.full {
		return true, nil
	}
	return t.urls.isKnown(to)
}

func sizeOf(to ring.Target) int {
	n := len(to.Norm)
	if to.Form != to.Norm {
		n += len(to.Form)
	}
	for _, form := range to.Forms {
		n += len(form)
	}
	return n
}

// count counts the bytes that the page has added.
func (t *linkText) count() error {
	n := t.urls.written - t.written
	if n == 0 || t.site == "" {
		return nil
	}
	h, err := t.urls.hosts.load(t.host)
	if err != nil {
		return err
	}
	if h.LinkText += n; h.LinkText >= t.urls.textStep() {
		n, h.LinkText = h.LinkText, 0
		err = t.urls.in.tx.Runs.CountMore(scope.CountSiteText, t.site, t.urls.in.run.ID, n)
	}
	t.urls.hosts.put(h)
	return err
}

// isKnown reports whether a page is recorded.
func (u *urls) isKnown(to ring.Target) (bool, error) {
	name, pathQuery := weburl.Split(to.Norm)
	host, err := u.hosts.find(name)
	if err != nil || host == 0 {
		return false, err
	}
	_, ok, err := u.in.tx.URLs.Lookup(to.Hash, host, schema.KindPage, pathQuery)
	return ok, err
}
