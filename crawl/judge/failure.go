package judge

import (
	"github.com/sumi-ripple/ripple/crawl/fetch"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/schema"
)

// failure judges a request without a complete answer. A request on a connection that the server had already
// closed is repeated once. That does not count as a retry.
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

// again returns the same step, once per visit, if the server had already closed the connection; nil: it had not.
func again(o *ring.Outcome) *ring.Step {
	if !o.Stale || o.Step.Visit.Repeated {
		return nil
	}
	next := o.Follow()
	next.Visit.Repeated = true
	return next
}
