package config

import (
	"time"

	"github.com/sumi-ripple/ripple/schema/scope"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// newConfig returns the defaults, before paths are resolved.
func newConfig() *Config {
	return &Config{
		Crawler: Crawler{
			MaxDepth:               3,
			MaxConcurrentPagesOpen: 10,
			MinimumTimeOnPage:      time.Second,
			MaxDomainRequests:      500,
			HeadCheck:              HeadAlways,
			RespectNoindex:         true,
			FollowCanonical:        true,
			Sitemaps:               SitemapsQuality,
		},
		UserAgent: UserAgent{CrawlerVersion: "1.0", AcceptLanguage: "en,*;q=0.5"},
		State:     State{Path: "./ripple.bolt"},
		URL:       URL{StripParams: weburl.DefaultStripParams(), MaxLength: weburl.DefaultMaxLength},
		Traps: scope.Traps{
			MaxPathDepth:        20,
			MaxRepeatedSegments: 3,
			MaxQueriesPerPath:   200,
			MaxPerPrefix:        5000,
			MaxURLsPerHost:      100_000,
			MaxHostsPerSite:     1000,
			MaxHostsPerPage:     1000,
			MaxSitemapHosts:     10,
			Maze:                true,
		},
		Retry: Retry{
			MaxRetries:     3,
			Delay:          5 * time.Second,
			Backoff:        BackoffConstant,
			MaxDelay:       10 * time.Minute,
			Timeout:        30 * time.Second,
			ConnectTimeout: 10 * time.Second,
		},
		Politeness: Politeness{
			MaxRateLimits:         5,
			MaxSuspension:         time.Hour,
			MaxCrawlDelay:         5 * time.Minute,
			RobotsTTL:             24 * time.Hour,
			RobotsUnreachable:     RobotsDisallow,
			AdaptiveDelay:         true,
			DelayFactor:           1,
			MaxAdaptiveDelay:      30 * time.Second,
			MaxParallelPerDomain:  1,
			MinimumTimePerAddress: 100 * time.Millisecond,
		},
		Content: Content{
			MaxResponseBytes:   10_000_000,
			AcceptContentTypes: []string{"text/html", "application/xhtml+xml"},
			Compress:           true,
		},
		Network: Network{HTTP2: true, KeepAlive: true},
		Pages:   Pages{Path: "./ripple-pages"},
		Recrawl: Recrawl{MinAge: 24 * time.Hour},
		Checks:  Checks{Soft404: Soft404Origins},
		Render:  Render{Mode: RenderOff, MaxRequests: 60, Timeout: 20 * time.Second, Sandbox: true},
		Cluster: Cluster{Shards: 8, Folder: "./terrain", Lease: 10 * time.Minute},
	}
}
