package answer

import (
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/crawl/census"
	"github.com/sumi-ripple/ripple/schema"
)

// While the whole crawl waits for the disk, so does every page and host, whatever request of its host is open. A crawl
// that is short of memory still requests, so the request is named.
func TestObstacleOfTheCrawl(t *testing.T) {
	since := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	open := &Fetching{Requests: []openRequest{{Domain: "a.test", Kind: "get", Since: since.Add(time.Hour)}}}
	for want, wait := range map[string]census.Wait{
		"waiting for the disk":    {Reason: census.ForDisk},
		"the answer to 1 request": {Reason: census.ForMeans},
	} {
		s := &census.Status{Status: "running", Wait: wait, WaitsSince: &since}
		Tell(s)
		got := Inspector{&statefile.State{Live: s}}.waiting(&schema.Host{Name: "a.test"}, open)
		if got.Why != want || got.Since == nil || got.Since.Equal(since) != (wait.Reason == census.ForDisk) {
			t.Errorf("it waits for %q since %v, want %q", got.Why, got.Since, want)
		}
	}
}
