package record

import (
	"time"

	"github.com/sumi-ripple/ripple/crawl/render"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/crawl/robots"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// DeniedAsset is the refusal of what robots.txt forbids.
const DeniedAsset = "denied by robots.txt"

// A refusal is the answer to what pages ask for and a host is not asked.
type refusal struct{ url, why string }

func (r *refusal) answer() *render.Answer { return &render.Answer{Refused: r.why} }

// refuseAssets refuses the first thing that scripts ask a host for, if it is not asked for
// anything any more in this run. That max-pages is reached says nothing of what the pages
// need that were asked for before.
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
		why = "the budget of the host is used up"
	default:
		return nil
	}
	url := live.assets[0].url
	live.assets = live.assets[1:]
	return &refusal{url, why}
}

// asset decides on the first thing that scripts ask a host for and that is due: to ask for
// it, or to refuse what robots.txt forbids. It reports whether there was one.
func (p *plan) asset(h *schema.Host, live *liveHost, rules *robots.Rules) (decision, bool) {
	for i, a := range live.assets {
		if a.due.After(p.in.now) {
			continue
		}
		live.assets = append(live.assets[:i:i], live.assets[i+1:]...)
		if v := rules.Check(weburl.PathQuery(a.url)); !v.Allowed {
			return decision{refuse: &refusal{a.url, DeniedAsset}, again: true}, true
		}
		return decision{step: &ring.Step{
			Kind: ring.Asset, Host: h.ID, For: h.ID, ID: ring.AssetID, URL: a.url, Timeout: p.in.set.Timeout(a.tries),
			Settings: p.in.set, Visit: ring.Progress{Retries: a.tries},
		}}, true
	}
	return decision{}, false
}

// entrust has another shard ask for the first thing that scripts want of one of its hosts and
// that is due, or waits until one is.
func (p *plan) entrust(h *schema.Host, live *liveHost) decision {
	for i, a := range live.assets {
		if a.due.After(p.in.now) {
			continue
		}
		live.assets = append(live.assets[:i:i], live.assets[i+1:]...)
		return decision{step: &ring.Step{
			Kind: ring.Asset, Host: h.ID, For: h.ID, ID: ring.AssetID, URL: a.url, Settings: p.in.set,
			Visit: ring.Progress{Retries: a.tries},
			Errand: &ring.Errand{
				From: p.in.store.Part().Shard, To: p.in.store.ShardOf(h.ID), Kind: ring.Asset, URL: a.url,
			},
		}}
	}
	return decision{wake: p.orAsset(time.Time{}, live)}
}

// orAsset is the earlier of a time to wake a host and that of the first thing which scripts
// ask it for once more.
func (p *plan) orAsset(wake time.Time, live *liveHost) time.Time {
	for _, a := range live.assets {
		if a.due.After(p.in.now) && (wake.IsZero() || a.due.Before(wake)) {
			wake = a.due
		}
	}
	return wake
}
