package census

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/sumi-ripple/ripple/crawl/clock"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/amount"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// A Group is the set of hosts with remaining pages that wait for the same reason.
type Group struct {
	Reason string  `json:"reason"` // one of those below
	Hosts  int     `json:"hosts"`
	Pages  int     `json:"pages_waiting"`         // at these hosts
	Next   float64 `json:"next_seconds"`          // until the first of them may be requested; 0: now, or not in this run
	First  string  `json:"first"`                 // that host; empty: none is requested again
	Shown  string  `json:"first_shown,omitempty"` // display form, if it differs from the host
	Why    string  `json:"first_why"`             // details of its reason; empty: none
	at     time.Time
}

// The reasons of a [Group], in display order.
const (
	GroupReady      = "ready"       // the host is being requested, or can be
	GroupDelay      = "delay"       // waiting for minimum-time-on-page
	GroupCrawlDelay = "crawl_delay" // waiting for the longer Crawl-delay of its robots.txt
	GroupSlow       = "slow"        // its answers are slow, and the adaptive delay after them is as long
	GroupTimeouts   = "timeouts"    // successive time-outs double its delay
	GroupRest       = "rest"        // it asked for a pause
	GroupRobots     = "robots"      // its robots.txt is not available yet
	GroupRetries    = "retries"     // only retries are left
	GroupBudget     = "budget"      // the budget of the host or of the run is used up
	GroupGivenUp    = "given_up"    // it is not requested again in this run
)

// groupOrder lists the reasons in display order.
func groupOrder() []string {
	return []string{GroupReady, GroupDelay, GroupCrawlDelay, GroupSlow, GroupTimeouts, GroupRest, GroupRobots,
		GroupRetries, GroupBudget, GroupGivenUp}
}

// group returns why a host with remaining pages waits, and until when. pages is how many of them the run will
// visit.
func (p Pace) group(h *schema.Host, pages float64) (reason, why string, until time.Time) {
	t, ready := p.Trouble(h), clock.Ready(p.cfg, h)
	switch {
	case t.Kind == schema.TroubleGivenUp:
		return GroupGivenUp, t.Why.String(), time.Time{}
	case pages == 0:
		return GroupBudget, "", time.Time{}
	case t.Kind == schema.TroubleRest:
		return GroupRest, "", t.Until
	case t.Kind == schema.TroubleRobots:
		return GroupRobots, t.String(), t.Until
	case t.Kind == schema.TroubleRetries && h.Waiting == 0:
		return GroupRetries, t.String(), t.Until
	case time.Until(ready) <= 0:
		return GroupReady, "", ready
	case h.Timeouts > 0:
		return GroupTimeouts, amount.Of(int(h.Timeouts), "time-out", "") + " in a row", ready
	case ready.After(h.LastByte.Add(p.cfg.FullDelay(h))):
		return GroupSlow, "it answers in " + h.Smoothed.Round(time.Millisecond).String(), ready
	case h.CrawlDelay > p.cfg.Crawler.MinimumTimeOnPage:
		return GroupCrawlDelay, "Crawl-delay " + strconv.FormatFloat(h.CrawlDelay.Seconds(), 'f', -1, 64), ready
	}
	return GroupDelay, "", ready
}

// A Delay is why a host is not requested now.
type Delay struct {
	Why   string
	Since time.Time // zero: unknown
	Until time.Time // zero: not in this run
}

// Delay returns why a host with pages left is not requested, by its record. It is zero if the host
// may be requested.
func (p Pace) Delay(h *schema.Host) (d Delay) {
	reason, why, until := p.group(h, 1)
	d = Delay{Why: why, Since: h.LastByte, Until: until}
	switch reason {
	case GroupReady:
		return Delay{}
	case GroupGivenUp:
		d.Why, d.Since = "given up: "+why, time.Time{}
	case GroupRobots:
		if t := p.Trouble(h); t.From != "" {
			d.Since, t.Since = t.Since, time.Time{}
			d.Why = t.String()
		}
	case GroupRest:
		d.Why, d.Since = p.Trouble(h).String(), h.SuspendedTo.Add(-h.SuspendedFor)
	case GroupDelay:
		d.Why = "minimum-time-on-page = " + p.cfg.Crawler.MinimumTimeOnPage.String()
	}
	return d
}

// whyNext returns why the next host to be requested waits; empty: for minimum-time-on-page.
func (p Pace) whyNext(h *schema.Host) string {
	reason, why, _ := p.group(h, 1)
	if reason == GroupRest {
		d := p.Delay(h)
		why = d.Why + ", since " + d.Since.UTC().Format(time.RFC3339)
	}
	return why
}

// addGroup counts a host with pages left.
func (c *count) addGroup(p Pace, h *schema.Host, waiting int, pages float64) {
	if waiting == 0 {
		return
	}
	reason, why, until := p.group(h, pages)
	i := slices.IndexFunc(c.groups, func(g Group) bool { return g.Reason == reason })
	if i < 0 {
		i = len(c.groups)
		c.groups = append(c.groups, Group{Reason: reason})
	}
	g := &c.groups[i]
	g.Hosts++
	g.Pages += waiting
	if !until.IsZero() && (g.at.IsZero() || until.Before(g.at)) {
		g.First, g.Why, g.at = h.Name, why, until
	}
}

// grouped returns the groups with their current waiting times.
func (c *count) grouped() []Group {
	all := slices.Clone(c.groups)
	for i := range all {
		all[i].Next = max(0, time.Until(all[i].at).Seconds())
		all[i].Shown = weburl.ShownIfOther(all[i].First)
	}
	order := groupOrder()
	slices.SortFunc(all, func(a, b Group) int {
		return cmp.Compare(slices.Index(order, a.Reason), slices.Index(order, b.Reason))
	})
	return append([]Group{}, all...)
}
