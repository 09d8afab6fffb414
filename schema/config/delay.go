package config

import (
	"fmt"
	"time"

	"github.com/sumi-ripple/ripple/schema"
)

// MaxDelayDoublings is how often time-outs in a row double the delay of a host.
const MaxDelayDoublings = 6

// BaseDelay is the time promised between two requests to a host: that of the
// configuration, or that of its robots.txt if it asks for more.
func (c *Config) BaseDelay(h *schema.Host) time.Duration {
	return max(c.Crawler.MinimumTimeOnPage, h.CrawlDelay)
}

// AsksTooMuch reports a Crawl-delay longer than max-suspension and max-crawl-delay: a
// host that no run waits for, and asks for nothing but robots.txt.
func (c *Config) AsksTooMuch(h *schema.Host) bool {
	return h.CrawlDelay > max(c.Politeness.MaxSuspension, c.Politeness.MaxCrawlDelay)
}

// WhyTooMuch is the reason to give such a host up.
func (c *Config) WhyTooMuch(h *schema.Host) schema.Reason {
	key, limit := "max-suspension", c.Politeness.MaxSuspension
	if c.Politeness.MaxCrawlDelay > limit {
		key, limit = "max-crawl-delay", c.Politeness.MaxCrawlDelay
	}
	return schema.Reason{Cause: schema.CauseCrawlDelay, Detail: fmt.Sprintf("%s > %s = %s", h.CrawlDelay, key, limit)}
}

// FullDelay is the base delay, doubled by every time-out in a row. At a host that asks
// for too much it is the configured one, between two requests for robots.txt.
func (c *Config) FullDelay(h *schema.Host) time.Duration {
	base, doublings := c.BaseDelay(h), min(h.Timeouts, MaxDelayDoublings)
	if c.AsksTooMuch(h) {
		base = c.Crawler.MinimumTimeOnPage
	}
	if base > longestDelay>>doublings {
		return longestDelay
	}
	return base << doublings
}

const longestDelay = time.Duration(1) << 62
