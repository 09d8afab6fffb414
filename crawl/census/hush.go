package census

import (
	"time"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/schema"
)

const (
	longSilence = 2 * time.Second // after which a person wonders what happens to a request
	maxSilent   = 3               // hosts that are named as silent, and as many with a failure that is held back
)

// A hush is a reason for a host's wait that its record does not show yet. The zero value is none.
type hush struct {
	asked  time.Time // when its open request was sent
	failed time.Time // when its request failed, if the network of this machine may be at fault
	why    string    // of failed
}

// hushesOf returns the hosts that have been silent for longest, and those whose failures have been
// held back for longest.
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
