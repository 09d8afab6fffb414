package config

import (
	"fmt"
	"time"

	"github.com/sumi-ripple/ripple/schema"
)

// MaxDelayDoublings limits how often consecutive timeouts double the delay of a host.
const MaxDelayDoublings = 6

// BaseDelay returns the politeness delay between two requests to a host: the configured one, or the
// longer one in its robots.txt.
func (c *Config) BaseDelay(h *schema.Host) time.Duration {
	return max(c.Crawler.MinimumTimeOnPage, h.CrawlDelay)
}

// AsksTooMuch reports a Crawl-delay longer than both max-suspension and max-crawl-delay. No run waits
// for such a host, and only its robots.txt is requested.
func (c *Config) AsksTooMuch(h *schema.Host) bool {
	return h.CrawlDelay > max(c.Politeness.MaxSuspension, c.Politeness.MaxCrawlDelay)
}

// WhyTooMuch returns the reason for giving up such a host.
func (c *Config) WhyTooMuch(h *schema.Host) schema.Reason {
	key, limit := "max-suspension", c.Politeness.MaxSuspension
	if c.Politeness.MaxCrawlDelay > limit {
		key, limit = "max-crawl-delay", c.Politeness.MaxCrawlDelay
	}
	return schema.Reason{Cause: schema.CauseCrawlDelay, Detail: fmt.Sprintf("%s > %s = %s", h.CrawlDelay, key, limit)}
}

// FullDelay returns the base delay, doubled for every consecutive timeout. For a host that asks for too
// much it starts from the configured delay, which then applies to requests for robots.txt.
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
