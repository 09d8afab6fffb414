package config

import (
	"time"

	"github.com/sumi-ripple/ripple/schema/amount"
)

const (
	most    = 1<<31 - 1
	mostGap = 24 * time.Hour
	longest = 366 * 24 * time.Hour // limit for all durations, to keep clock arithmetic far from overflow
)

// tables declares every key outside the arrays, bound to c.
func (c *Config) tables() []table {
	return []table{
		{name: "crawler", doc: "How far, how much, how fast.", keys: c.Crawler.keys()},
		{name: "user-agent", doc: "Who makes the requests: \"Name/1.0 (+url; email)\".", keys: c.UserAgent.keys()},
		{name: "state", doc: "The live state.", keys: c.State.keys()},
		{name: "output", doc: "Written when a run completes or a limit stops it; an empty path writes nothing.",
			keys: c.Output.keys()},
		{name: "url", doc: "What makes two URLs one page. A change needs --fresh.", keys: c.URL.keys()},
		{name: "traps", doc: "Limits against endless sites; 0 turns a limit off.", keys: c.trapKeys()},
		{name: "retry", doc: "What happens after 5xx and timeouts.", keys: c.Retry.keys()},
		{name: "politeness", doc: "How hosts are protected from too many requests.", keys: c.Politeness.keys()},
		{name: "content", doc: "What is read.", keys: c.Content.keys()},
		{name: "network", doc: "How hosts are reached.", keys: c.Network.keys()},
		{name: "pages", doc: "The page store.", keys: c.Pages.keys()},
		{name: "recrawl", doc: "What a later run requests again.", keys: c.Recrawl.keys()},
		{name: "checks", doc: "What is found out about hosts.", keys: c.Checks.keys()},
		{name: "monitor", doc: "Monitoring of the run.", keys: c.Monitor.keys()},
		{name: "render", doc: "Pages that are empty until their scripts have run.", keys: c.Render.keys()},
		{name: "cluster", doc: "A terrain that several machines crawl together; see \"ripple help machines\".",
			keys: c.Cluster.keys()},
		{name: "decisions", doc: "What people decided about hosts, in a separate file.", keys: c.Decisions.keys()},
	}
}

func (d *Decisions) keys() []key {
	return []key{
		{name: "file", doc: "[[decision]] entries, which \"ripple decide\" writes too", value: str(&d.File, anything)},
	}
}

func (c *Crawler) keys() []key {
	return []key{
		{name: "max-depth", doc: "number of links followed away from an origin, >= 0", value: number(&c.MaxDepth, 0, 250)},
		{name: "max-concurrent-pages-open", doc: "requests open at a time, 1 to 100; for more see [network] max-open",
			value: number(&c.MaxConcurrentPagesOpen, 1, 100)},
		{name: "minimum-time-on-page", unit: "ms", doc: "between requests to one host, >= 100",
			value: millis(&c.MinimumTimeOnPage, 100, mostGap)},
		{name: "max-domain-requests", doc: "requests per run and host, >= 1", value: number(&c.MaxDomainRequests, 1, most)},
		{name: "max-pages", doc: "pages visited per run; 0: no limit", value: number(&c.MaxPages, 0, most)},
		{name: "max-run-time", unit: "duration", doc: "of one process; 0: no limit", value: duration(&c.MaxRunTime, 0)},
		{name: "max-links-per-page",
			doc:   "the first N distinct targets in document order are recorded; 0: " + amount.Commas(DefaultLinks),
			value: number(&c.MaxLinksPerPage, 0, 1_000_000)},
		{name: "max-subdomains",
			doc:   "hosts visited per site; 0: all; on an origin's site, hosts that only other sites name get a tenth",
			value: number(&c.MaxSubdomains, 0, most)},
		{name: "head-check",
			doc: "HEAD before GET: always | auto (unless it looks like a page) | never | " +
				"outside (auto; off origins HEAD alone)",
			sample: `"auto"`,
			value:  enum(&c.HeadCheck, HeadAlways, HeadAuto, HeadNever, HeadOutside)},
		{name: "respect-nofollow", doc: "links with rel=nofollow are recorded, not followed",
			value: boolean(&c.RespectNofollow)},
		{name: "respect-noindex", doc: "keep no title, anchors or facts of noindex pages",
			value: boolean(&c.RespectNoindex)},
		{name: "follow-canonical", doc: "treat the canonical link as a link", value: boolean(&c.FollowCanonical)},
		{name: "opml", doc: "read OPML lists, such as blogrolls, as pages of links", value: boolean(&c.OPML)},
		{name: "sitemaps", doc: "quality: those of quality hosts | off | only: visit nothing but seeds and sitemap URLs",
			value: enum(&c.Sitemaps, SitemapsQuality, SitemapsOff, SitemapsOnly)},
	}
}

func (u *UserAgent) keys() []key {
	return []key{
		{name: "crawler-name", doc: "letters, digits, hyphens; robots.txt rules for this name are obeyed", required: true,
			sample: `"` + placeholder + `"`, value: str(&u.CrawlerName, checkCrawlerName)},
		{name: "crawler-version", doc: "letters, digits and . _ + -", value: str(&u.CrawlerVersion, checkVersion)},
		{name: "contact-url", doc: "a page about the crawler; sites block crawlers that name no contact; \"\": none",
			sample: `"https://` + placeholder + `/about-our-crawler"`, value: str(&u.ContactURL, orEmpty(checkContactURL))},
		{name: "contact-email", doc: "the person responsible for the crawler; \"\": none",
			sample: `"crawler@` + placeholder + `"`, value: str(&u.ContactEmail, orEmpty(checkEmail))},
		{name: "accept-language", doc: "preferred languages, as in Accept-Language; \"\": not sent",
			value: str(&u.AcceptLanguage, orEmpty(checkLanguages))},
	}
}

func (s *State) keys() []key {
	return []key{
		{name: "path", doc: "the state file; relative paths start at this file", value: str(&s.Path, notEmpty)},
	}
}

func (o *Output) keys() []key {
	return []key{
		{name: "database-path", doc: "SQLite database", sample: `"./sumi-ripple.db"`, value: str(&o.DatabasePath, anything)},
		{name: "summary-path", doc: "Markdown summary", sample: `"./crawl-summary.md"`, value: str(&o.SummaryPath, anything)},
		{name: "graph-path", doc: "GEXF, host level", value: str(&o.GraphPath, anything)},
		{name: "map-path", doc: "HTML map", value: str(&o.MapPath, anything)},
	}
}

func (u *URL) keys() []key {
	return []key{
		{name: "strip-params", doc: "query parameters that are dropped; \"utm_*\" matches all that begin with utm_",
			value: list(&u.StripParams, stripParam, tomlString)},
		{name: "max-length", unit: "bytes", doc: "maximum for a normalised URL", value: number(&u.MaxLength, 64, 1<<16)},
	}
}

func (c *Config) trapKeys() []key {
	t := &c.Traps
	return []key{
		{name: "max-path-depth", doc: "maximum segments of a path", value: number(&t.MaxPathDepth, 0, most)},
		{name: "max-repeated-segments", doc: "how often a path segment may occur in a path",
			value: number(&t.MaxRepeatedSegments, 0, most)},
		{name: "max-queries-per-path", doc: "different queries of one path", value: number(&t.MaxQueriesPerPath, 0, most)},
		{name: "max-per-prefix", doc: "pages below one first path segment of a discovered host",
			value: number(&t.MaxPerPrefix, 0, most)},
		{name: "max-urls-per-host", doc: "URLs recorded; links to further ones are only counted",
			value: number(&t.MaxURLsPerHost, 0, most)},
		{name: "max-hosts-per-site",
			doc:   "hosts recorded of a site that belongs to no origin, and as many more that only other sites name",
			value: number(&t.MaxHostsPerSite, 0, most)},
		{name: "max-hosts-per-page",
			doc:   "hosts outside the page's site, first in document order; links to further ones are only counted",
			value: number(&t.MaxHostsPerPage, 0, most)},
		{name: "max-sitemap-hosts", doc: "foreign hosts that one host's robots.txt may name sitemaps on",
			value: number(&t.MaxSitemapHosts, 0, most)},
		{name: "maze", doc: "leave parts of a host that never end: endless links to pages that are alike",
			value: boolean(&t.Maze)},
	}
}

func (r *Retry) keys() []key {
	return []key{
		{name: "max-retries", doc: "after 5xx and timeouts, 0 to 100", value: number(&r.MaxRetries, 0, 100)},
		{name: "delay", unit: "duration", doc: "before a retry", value: duration(&r.Delay, 0)},
		{name: "backoff", doc: "constant | fibonacci | exponential (with jitter)",
			value: enum(&r.Backoff, BackoffConstant, BackoffFibonacci, BackoffExponential)},
		{name: "max-delay", unit: "duration", doc: "the longest delay", value: duration(&r.MaxDelay, 0)},
		{name: "timeout", unit: "duration", doc: "from sending to the last response header",
			value: duration(&r.Timeout, time.Millisecond)},
		{name: "timeout-step", unit: "duration", doc: "added to the timeout at every retry",
			value: duration(&r.TimeoutStep, 0)},
		{name: "connect-timeout", unit: "duration", doc: "for name look-up, connection and TLS together",
			value: duration(&r.ConnectTimeout, time.Millisecond)},
	}
}

func (p *Politeness) keys() []key {
	return []key{
		{name: "max-rate-limits",
			doc:   "consecutive 429s, or 503s with Retry-After, before a host is given up for the run; 1: at once",
			value: number(&p.MaxRateLimits, 1, most)},
		{name: "max-suspension", unit: "duration", doc: "a host that asks for a longer wait is given up for this run",
			value: duration(&p.MaxSuspension, 0)},
		{name: "max-crawl-delay", unit: "duration",
			doc:   "if a host's Crawl-delay is longer, only its seeds are visited; if longer than max-suspension, nothing",
			value: duration(&p.MaxCrawlDelay, 0)},
		{name: "robots-ttl", unit: "duration", doc: "how long a robots.txt is kept before it is requested again",
			value: duration(&p.RobotsTTL, time.Second)},
		{name: "robots-unreachable", doc: "disallow | allow", value: enum(&p.RobotsUnreachable, RobotsDisallow, RobotsAllow)},
		{name: "adaptive-delay", doc: "slow hosts get fewer requests", value: boolean(&p.AdaptiveDelay)},
		{name: "delay-factor", doc: "how many response times pass between requests", value: float(&p.DelayFactor, 0, 1000)},
		{name: "max-adaptive-delay", unit: "duration", doc: "the longest adaptive delay",
			value: duration(&p.MaxAdaptiveDelay, 0)},
		{name: "max-parallel-per-domain", doc: "requests open to one host, 1 to 100",
			value: number(&p.MaxParallelPerDomain, 1, 100)},
		{name: "minimum-time-per-address", unit: "duration", doc: "between requests to one IP address; 0: off",
			value: duration(&p.MinimumTimePerAddress, 0)},
	}
}

func (c *Content) keys() []key {
	return []key{
		{name: "max-response-bytes", unit: "size", doc: "maximum decoded size; MB = 10^6, MiB = 2^20",
			value: size(&c.MaxResponseBytes, 1, 1<<40)},
		{name: "accept-content-types", doc: "\"text/*\" means every text type",
			value: nonEmptyList(&c.AcceptContentTypes, contentType, tomlString)},
		{name: "reject-content-types", doc: "excluded from the accepted ones",
			value: list(&c.RejectContentTypes, contentType, tomlString)},
		{name: "compress", doc: "compressed answers are accepted", value: boolean(&c.Compress)},
	}
}

func (n *Network) keys() []key {
	return []key{
		{name: "max-open", doc: "requests open at a time, up to 10,000; 0: max-concurrent-pages-open",
			value: number(&n.MaxOpen, 0, 10_000)},
		{name: "memory-limit", unit: "size", doc: "soft limit of the process: auto (3/4 of the memory) | off | a size",
			value: memoryLimit(&n.MemoryLimit)},
		{name: "proxy", doc: "http://user:password@host:port; also HTTPS_PROXY and NO_PROXY", value: proxy(&n.Proxy)},
		{name: "ca-file", doc: "extra trust anchors (PEM)", value: str(&n.CAFile, anything)},
		{name: "connect-to", doc: "connect to another address: {\"*.docs.test\" = \"127.0.0.1:8443\"}",
			value: connectTo(&n.ConnectTo)},
		{name: "allow-private", doc: "private address ranges (CIDR) that may be dialled",
			value: list(&n.AllowPrivate, cidr, tomlPrefix)},
		{name: "http2", doc: "HTTP/2 is offered", value: boolean(&n.HTTP2)},
		{name: "keep-alive", doc: "connections stay open between requests", value: boolean(&n.KeepAlive)},
	}
}

func (p *Pages) keys() []key {
	return []key{
		{name: "keep", doc: "keep the HTML of visited pages", value: boolean(&p.Keep)},
		{name: "path", doc: "the folder of the page store", value: str(&p.Path, notEmpty)},
	}
}

func (r *Recrawl) keys() []key {
	return []key{
		{name: "min-age", unit: "duration",
			doc:    "a younger final answer is kept; absent: 24h, or longer if Cache-Control says so, up to 7 days",
			sample: `"24h"`, value: given(duration(&r.MinAge, 0), &r.Given)},
	}
}

func (c *Checks) keys() []key {
	return []key{
		{name: "soft-404", doc: "a request per run and host for a page that does not exist, to know its answer: " +
			"origins | all | off",
			value: enum(&c.Soft404, Soft404Origins, Soft404All, Soft404Off)},
	}
}

func (m *Monitor) keys() []key {
	return []key{
		{name: "listen", doc: "the desk in the browser and its JSON API, as \"127.0.0.1:7575\"",
			value: str(&m.Listen, orEmpty(checkListen))},
		{name: "token-file", doc: "holds the access token, mode 0600; created if missing; \"\": a new one each time, printed",
			value: str(&m.TokenFile, anything)},
		{name: "hosts", doc: "further host names of the desk", value: list(&m.Hosts, hostName, tomlString)},
		{name: "cert-file", doc: "certificate (PEM); needed, with key-file, if listen is not a loopback address",
			value: str(&m.CertFile, anything)},
		{name: "key-file", doc: "private key of cert-file (PEM)", value: str(&m.KeyFile, anything)},
		{name: "webhook", doc: "https:// address that receives events of the run",
			value: str(&m.Webhook, orEmpty(checkWebhook))},
		{name: "webhook-secret-file", doc: "the signing secret, \"whsec_...\"; two lines while it is being changed",
			value: str(&m.WebhookSecretFile, anything)},
		{name: "metrics-csv", doc: "timestamp,metric,value every 10 s", value: str(&m.MetricsCSV, anything)},
		{name: "report-path", doc: "JSON report at the end of the run", value: str(&m.ReportPath, anything)},
	}
}
