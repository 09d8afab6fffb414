package crawltest

import (
	"time"

	"github.com/sumi-ripple/ripple/crawl/cluster/lease"
)

// Timing returns the timing of leases of 25 s, faster by the given factor.
func Timing(times int) lease.Timing {
	t, n := lease.Of(25*time.Second), time.Duration(times)
	return lease.Timing{Watch: t.Watch / n, Trust: t.Trust / n, Renew: t.Renew / n, Jump: t.Jump / n}
}
