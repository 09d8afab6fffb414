package config

import (
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/scope"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// A LinkCheck says which sites to crawl for broken links, and how.
type LinkCheck struct {
	Base         *Config  // its settings apply, but not its origins, decisions, files and outputs; nil: the defaults
	URLs         []string // where to begin; their hosts are the sites
	State        string   // path of the state file
	MaxPages     int      // 0: no limit
	ContactURL   string   // empty: that of Base
	ContactEmail string   // empty: that of Base
}

// Config returns a configuration that crawls the sites completely, and requests once, with HEAD if the
// server answers that, each page elsewhere that they link to. Every URL that it cannot begin at is reported in
// the [*Errors] with the reason.
func (k LinkCheck) Config() (*Config, error) {
	c := newConfig()
	if k.Base != nil {
		*c = *k.Base
	} else {
		c.UserAgent.CrawlerName = "Ripple"
	}
	usual := newConfig()
	c.Output, c.Pages, c.Monitor, c.Render.Mode = usual.Output, usual.Pages, usual.Monitor, usual.Render.Mode
	c.Cluster, c.Decisions = usual.Cluster, usual.Decisions
	c.Quality, c.PageTypes, c.Entities, c.Extracts, c.decided = nil, nil, nil, nil, nil
	c.notes = schema.HostNotes{}
	c.State.Path = k.State
	c.Recrawl = Recrawl{Given: true} // a second check requests everything again
	c.Crawler.MaxDepth, c.Crawler.HeadCheck, c.Crawler.Sitemaps = 1, HeadOutside, SitemapsQuality
	c.Crawler.MaxPages, c.Crawler.MaxDomainRequests, c.Crawler.MaxSubdomains = k.MaxPages, most, 0
	if k.ContactURL != "" || k.ContactEmail != "" {
		c.UserAgent.ContactURL, c.UserAgent.ContactEmail = k.ContactURL, k.ContactEmail
	}
	var err error
	if c.rules, err = weburl.NewRules(c.URL.StripParams, c.URL.MaxLength); err != nil {
		return nil, err
	}
	if c.scope, err = scope.New(c.spec()); err != nil {
		return nil, err
	}
	return c.WithSeeds(k.URLs, true)
}
