package config_test

import (
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

func TestFullDelay(t *testing.T) {
	cfg := &config.Config{}
	cfg.Crawler.MinimumTimeOnPage = 2 * time.Second
	cfg.Politeness.MaxSuspension, cfg.Politeness.MaxCrawlDelay = 1<<61, time.Minute
	tests := []struct {
		name       string
		host       schema.Host
		base, full time.Duration
	}{
		{"the configured one", schema.Host{CrawlDelay: time.Second}, 2 * time.Second, 2 * time.Second},
		{"that of robots.txt", schema.Host{CrawlDelay: 9 * time.Second}, 9 * time.Second, 9 * time.Second},
		{"doubled by a time-out", schema.Host{Timeouts: 1}, 2 * time.Second, 4 * time.Second},
		{"six times at most", schema.Host{Timeouts: 100}, 2 * time.Second, 128 * time.Second},
		{"too much to wait for", schema.Host{CrawlDelay: 1<<61 + 1, Timeouts: 1}, 1<<61 + 1, 4 * time.Second},
		{"without end", schema.Host{CrawlDelay: 1 << 61, Timeouts: 6}, 1 << 61, 1 << 62},
	}
	for _, tt := range tests {
		if got := cfg.BaseDelay(&tt.host); got != tt.base {
			t.Errorf("%s: BaseDelay = %v, want %v", tt.name, got, tt.base)
		}
		if got := cfg.FullDelay(&tt.host); got != tt.full {
			t.Errorf("%s: FullDelay = %v, want %v", tt.name, got, tt.full)
		}
	}
}
