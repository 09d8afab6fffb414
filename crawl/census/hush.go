package census

import (
	"time"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/schema"
)

const (
	longSilence = 2 * time.Second // after which a person wonders about a request
	maxSilent   = 3               // hosts that are named, and as many whose failure is held back
)

// A hush is what keeps a host waiting that its record does not say yet. The zero value is nothing.
type hush struct {
	asked  time.Time // its request was sent, and is open
	failed time.Time // its request failed, and the network of this machine may be at fault
	why    string    // of failed
}

// hushesOf tells which hosts have been silent for longest, and whose failures have been held back for longest.
func hushesOf(flights []crawl.Flight, held []crawl.Held, now time.Time) map[schema.HostID]hush {
	all := map[schema.HostID]hush{}
	for _, f := range flights {
		if len(all) == maxSilent || now.Sub(f.Since) < longSilence {
			break
		}
		if _, known := all[f.Host]; !known {
			all[f.Host] = hush{asked: f.Since}
		}
	}
	for _, f := range held[:min(len(held), maxSilent)] {
		all[f.Host] = hush{failed: f.Since, why: f.Why}
	}
	return all
}
