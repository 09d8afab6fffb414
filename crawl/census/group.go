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

// A Group is the hosts with pages left that wait for the same reason.
type Group struct {
	Reason string  `json:"reason"` // one of those below
	Hosts  int     `json:"hosts"`
	Pages  int     `json:"pages_waiting"`         // at these hosts
	Next   float64 `json:"next_seconds"`          // until the first of them may be asked; 0: now, or not in this run
	First  string  `json:"first"`                 // that host; empty: none is asked again
	Shown  string  `json:"first_shown,omitempty"` // to a person, if that is not the host alone
	Why    string  `json:"first_why"`             // more of its reason; empty: that says all
	at     time.Time
}

// The reasons of a [Group], in the order in which they are told.
const (
	GroupReady      = "ready"       // the host is being asked, or can be
	GroupDelay      = "delay"       // minimum-time-on-page has to pass
	GroupCrawlDelay = "crawl_delay" // that of robots.txt has to pass, which is longer
	GroupSlow       = "slow"        // its answers take long, and as long a rest follows them
	GroupTimeouts   = "timeouts"    // time-outs in a row double its delay
	GroupRest       = "rest"        // it asked for rest
	GroupRobots     = "robots"      // its robots.txt cannot be had yet
	GroupRetries    = "retries"     // all that is left are pages to be tried again
	GroupBudget     = "budget"      // the budget of the host or of the run is used up
	GroupGivenUp    = "given_up"    // it is not asked any more in this run
)

// groupOrder are the reasons as they are told.
func groupOrder() []string {
	return []string{GroupReady, GroupDelay, GroupCrawlDelay, GroupSlow, GroupTimeouts, GroupRest, GroupRobots,
		GroupRetries, GroupBudget, GroupGivenUp}
}

// group says why a host that has pages left waits, and until when. Whether the run visits
// any of them says pages.
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

// A Delay is why a host is not asked now.
type Delay struct {
	Why   string
	Since time.Time // zero: that is not known
	Until time.Time // zero: not in this run
}

// Delay says why a host with pages left is not asked, as far as its record tells; nothing: it may be asked.
func (p Pace) Delay(h *schema.Host) (d Delay) {
	reason, why, until := p.group(h, 1)
	d = Delay{Why: why, Since: h.LastByte, Until: until}
	switch reason {
	case GroupReady:
		return Delay{}
	case GroupGivenUp:
		d.Why, d.Since = "given up: "+why, time.Time{}
	case GroupRest:
		d.Why, d.Since = p.Trouble(h).String(), h.SuspendedTo.Add(-h.SuspendedFor)
	case GroupDelay:
		d.Why = "minimum-time-on-page = " + p.cfg.Crawler.MinimumTimeOnPage.String()
	}
	return d
}

// addGroup counts a host with so many pages left.
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

// grouped are the groups as they are now.
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
