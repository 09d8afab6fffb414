package record

import (
	"time"

	"github.com/sumi-ripple/ripple/crawl/render"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/crawl/robots"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// Refusals of resources that scripts request.
const (
	DeniedAsset = "denied by robots.txt"
	UnpaidAsset = "the budget of the host is used up"
)

// A refusal is the answer to pages for a resource whose host is not requested.
type refusal struct {
	render.Resource
	why string
}

// refuseAssets refuses the first resource that scripts need from a host, if the host is not
// requested any more in this run. Reaching max-pages is not such a case: resources are still
// requested for pages that were requested before.
func (p *plan) refuseAssets(h *schema.Host, live *liveHost, shut bool) *refusal {
	why := ""
	switch {
	case len(live.assets) == 0:
		return nil
	case h.RunGivenUp != schema.NotGivenUp:
		why = "the host is given up"
	case shut:
		why = "max-subdomains"
	case p.quotas.seedsOnly(h):
		why = "Crawl-delay"
	case p.quotas.exhausted(h, live):
		why = UnpaidAsset
	default:
		return nil
	}
	of := live.assets[0].Resource
	live.assets = live.assets[1:]
	return &refusal{of, why}
}

// asset decides on the first due resource that scripts need from a host: to request it, or to
// refuse it if robots.txt forbids it. It reports whether there was one.
func (p *plan) asset(h *schema.Host, live *liveHost, rules *robots.Rules) (decision, bool) {
	for i, a := range live.assets {
		if a.due.After(p.in.now) {
			continue
		}
		live.assets = append(live.assets[:i:i], live.assets[i+1:]...)
		if v := rules.Check(weburl.PathQuery(a.URL)); !v.Allowed {
			return decision{refuse: &refusal{a.Resource, DeniedAsset}, again: true}, true
		}
		return decision{step: &ring.Step{
			Kind: ring.Asset, Host: h.ID, For: h.ID, ID: ring.AssetID, URL: a.URL, Accept: a.Accept,
			Timeout: p.in.set.Timeout(a.tries), Settings: p.in.set, Visit: ring.Progress{Retries: a.tries},
		}}, true
	}
	return decision{}, false
}

// entrust delegates the first due resource that scripts need from a host of another shard to that
// shard, or waits until one is due.
func (p *plan) entrust(h *schema.Host, live *liveHost) decision {
	for i, a := range live.assets {
		if a.due.After(p.in.now) {
			continue
		}
		live.assets = append(live.assets[:i:i], live.assets[i+1:]...)
		return decision{step: &ring.Step{
			Kind: ring.Asset, Host: h.ID, For: h.ID, ID: ring.AssetID, URL: a.URL, Accept: a.Accept,
			Settings: p.in.set, Visit: ring.Progress{Retries: a.tries},
			Errand: &ring.Errand{
				From: p.in.store.Part().Shard, To: p.in.store.ShardOf(h.ID), Kind: ring.Asset, URL: a.URL, Accept: a.Accept,
			},
		}}
	}
	return decision{wake: p.orAsset(time.Time{}, live)}
}

// orAsset returns the earlier of two times: the time to wake a host, and that of the first retry of
// a resource from it.
func (p *plan) orAsset(wake time.Time, live *liveHost) time.Time {
	for _, a := range live.assets {
		if a.due.After(p.in.now) && (wake.IsZero() || a.due.Before(wake)) {
			wake = a.due
		}
	}
	return wake
}
