package record

import (
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl/fetch"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

// TestHeard says what of the outcomes of a request proves a host, or that it fails.
func TestHeard(t *testing.T) {
	cfg := &config.Config{Retry: config.Retry{Timeout: 30 * time.Second}}
	tests := []struct {
		name                      string
		kind                      ring.Kind
		cause                     fetch.Cause
		took                      time.Duration
		failing, answered, proved bool
	}{
		{"a page", ring.Get, fetch.None, 30 * time.Second, false, true, true},
		{"a page that comes slowly", ring.Get, fetch.None, 31 * time.Second, true, false, false},
		{"a page that comes too slowly", ring.Get, fetch.Slow, 10 * time.Second, true, false, false},
		{"silence", ring.Get, fetch.Timeout, 30 * time.Second, true, false, false},
		{"HEAD", ring.Head, fetch.None, time.Second, false, true, false},
		{"robots.txt", ring.Robots, fetch.None, time.Second, false, true, false},
		{"a slow robots.txt", ring.Robots, fetch.None, 31 * time.Second, true, false, false},
		{"cancelled", ring.Get, fetch.Cancelled, time.Second, false, false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			sent, live := time.Unix(1000, 0), liveHost{}
			live.heard(cfg, &schema.Host{}, &ring.Outcome{
				Step: ring.Step{Kind: tt.kind, Sent: sent}, Cause: tt.cause, FirstByte: sent, Done: sent.Add(tt.took),
			})
			if live.failing != tt.failing || live.answered != tt.answered || live.proved != tt.proved {
				t.Errorf("failing %v, answered %v, proved %v", live.failing, live.answered, live.proved)
			}
		})
	}
}
