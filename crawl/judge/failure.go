package judge

import (
	"github.com/sumi-ripple/ripple/crawl/fetch"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/schema"
)

// failure classes a request that got no whole answer. One that met a dead
// connection is made once more, which is no retry.
func failure(o *ring.Outcome) Verdict {
	if next := again(o); next != nil {
		return follow(next)
	}
	switch o.Cause {
	case fetch.NXDomain, fetch.Refused, fetch.TLS, fetch.RefusedAddress, fetch.RefusedPort, fetch.DNSTemporary,
		fetch.ConnectTimeout, fetch.TLSTimeout, fetch.NoRoute, fetch.Proxy:
		return otherForm(o, notFound(o.Reason()))
	case fetch.Timeout, fetch.Slow, fetch.Reset, fetch.Truncated:
		return retry(schema.Failed, o.Reason())
	case fetch.TooLarge:
		return settle(schema.Failed, because(schema.CauseTooLarge))
	}
	return settle(schema.Failed, o.Reason())
}

// again returns the same step, if it met a connection that had died in the
// meantime, and for the first time in its visit.
func again(o *ring.Outcome) *ring.Step {
	if !o.Stale || o.Step.Visit.Repeated {
		return nil
	}
	next := o.Follow()
	next.Visit.Repeated = true
	return next
}
