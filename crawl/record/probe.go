package record

import (
	"net/http"
	"slices"

	"github.com/sumi-ripple/ripple/crawl/fetch"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/crawl/robots"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
	"github.com/sumi-ripple/ripple/schema/missing"
)

// minProbeBudget is the smallest budget of a host that is requested for a page that does not exist.
const minProbeBudget = 20

// probeDue reports whether a host has shown a page in this run and has not been requested for a page that does not
// exist.
func (p *plan) probeDue(h *schema.Host) bool {
	if !h.RunShown || h.Missing.Run == p.in.run.ID || p.in.set.Config.Budget(h.Name) < minProbeBudget {
		return false
	}
	switch p.in.set.Config.Checks.Soft404 {
	case config.Soft404All:
		return true
	case config.Soft404Origins:
		return p.in.set.Scope.OriginsOf(h.Name) != nil
	}
	return false
}

// probe returns the request for a page that does not exist; nil: none is due, or robots.txt forbids it.
func (p *plan) probe(h *schema.Host, live *liveHost, rules *robots.Rules) *ring.Step {
	path := missing.Path(h.Name)
	if !p.probeDue(h) || slices.Contains(live.open, ring.ProbeID) || !rules.Check(path).Allowed {
		return nil
	}
	at := h.Name
	if h.ShownWWW {
		at = "www." + at
	}
	return &ring.Step{
		Kind: ring.Probe, Host: h.ID, For: h.ID, ID: ring.ProbeID, URL: "https://" + at + path,
		Norm: "https://" + h.Name + path, Timeout: p.in.set.Timeout(0), Settings: p.in.set,
	}
}

// probed keeps what a host answered to the request for a page that does not exist. Only a request that this machine
// cancelled is repeated; any other result is final for the run. A result that says nothing, such as an error of the
// server, leaves what an earlier run has found.
func (t *turn) probed(h *schema.Host, o *ring.Outcome) {
	if o.Cause == fetch.Cancelled {
		return
	}
	t.hosts.giveUpUnreached(h, o.Reason())
	m := o.MissingProbe(t.in.run.ID)
	says := !m.Walled && m.Status != 0 && m.Status < http.StatusInternalServerError &&
		m.Status != http.StatusTooManyRequests
	if says || h.Missing.Run == 0 {
		h.Missing = m
	}
	h.Missing.Run = m.Run
	t.hosts.put(h)
}
