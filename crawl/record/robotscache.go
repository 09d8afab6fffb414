package record

import (
	"math"
	"time"

	"github.com/sumi-ripple/ripple/crawl/clock"
	"github.com/sumi-ripple/ripple/crawl/judge"
	"github.com/sumi-ripple/ripple/crawl/media"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/crawl/robots"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/preference"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// Limits of the parsed rules in memory: files, and bytes.
const (
	maxParsedRobots = 4096
	maxParsedBytes  = 64 << 20
)

// A robotsCache keeps the robots.txt of every host: its rules, the attempts to fetch it, and its redirects to
// other hosts.
type robotsCache struct {
	in     *runState
	hosts  *hosts
	parsed map[schema.HostID]*robots.Rules
	size   int // of parsed, in bytes

	targets   map[string]*target // by their URLs
	kept      []*target          // the targets that have an answer, the oldest first
	keptBytes int                // of their bodies

	servings            []serving
	served, servedBytes int // in this turn
}

// rules returns the rules of a host's robots.txt; nil: it must be requested first.
func (c *robotsCache) rules(h *schema.Host) (*robots.Rules, error) {
	switch cfg := c.in.set.Config; {
	case clock.CopyStands(cfg, h, c.in.now):
		return c.copied(h)
	case clock.AllAllowed(cfg, h, c.in.now):
		return robots.AllowAll(), nil
	}
	return nil, nil
}

// ofVisit returns the rules for a visit that has begun. They hold even if the copy has expired meanwhile.
func (c *robotsCache) ofVisit(h *schema.Host) (*robots.Rules, error) {
	if rules, err := c.rules(h); err != nil || rules != nil {
		return rules, err
	}
	return c.copied(h)
}

// lastTry reports whether this is the last attempt to fetch the host's robots.txt. The host's clock must have seen its
// answer.
func (c *robotsCache) lastTry(h *schema.Host) bool {
	return int(h.RobotsTries) >= c.in.set.Config.Retry.MaxRetries || clock.OutOfReach(h)
}

// copied returns the rules of the copy, however old it is; nil: there is none. The delay and the preferences may have
// changed, because they depend on the crawler's name.
func (c *robotsCache) copied(h *schema.Host) (*robots.Rules, error) {
	if rules, ok := c.parsed[h.ID]; ok {
		return rules, nil
	}
	file, ok, err := c.in.tx.Hosts.Robots(h.ID)
	if err != nil || !ok {
		return nil, err
	}
	rules := robots.Parse(file.Text, c.in.set.Config.UserAgent.CrawlerName)
	if len(c.parsed) >= maxParsedRobots || c.size+rules.Size() > maxParsedBytes {
		clear(c.parsed)
		c.size = 0
	}
	c.parsed[h.ID] = rules
	c.size += rules.Size()
	said := preference.Text(Statements(rules.Statements())...)
	if delay, _ := rules.CrawlDelay(); delay != h.CrawlDelay || said != h.Preferences {
		h.CrawlDelay, h.Preferences = delay, said
		c.hosts.put(h)
	}
	return rules, nil
}

// request returns the step that requests a host's robots.txt, at the authority that is used for the host.
func (c *robotsCache) request(h *schema.Host, form string) *ring.Step {
	if h.RobotsFrom != "" { // left by a killed process
		h.RobotsFrom, h.RobotsSince = "", time.Time{}
		c.hosts.put(h)
	}
	return &ring.Step{
		Kind: ring.Robots, Host: h.ID, For: h.ID, URL: "https://" + weburl.Host(form) + "/robots.txt",
		Timeout: c.in.set.Timeout(int(h.RobotsTries)), Settings: c.in.set,
	}
}

// apply acts on the verdict about an answer. The answer may come from another host than the one that it is for.
func (c *robotsCache) apply(asked *schema.Host, o *ring.Outcome, v judge.RobotsVerdict) error {
	h, err := c.hosts.change(o.Step.For)
	if err != nil {
		return err
	}
	live := c.hosts.live.of(h.ID)
	live.robots, live.at = v.Act == judge.Ask, nil
	h.RobotsFrom, h.RobotsSince, h.RobotsWall = "", time.Time{}, ""
	if o.Wall != nil {
		h.RobotsWall = o.Wall.ID
	}
	switch v.Act {
	case judge.Keep:
		return c.store(h, live, v, o)
	case judge.Ask:
		c.hosts.live.of(asked.ID).goOn(*v.Next)
	case judge.AskAt:
		return c.askAt(h, live, v)
	case judge.TryLater:
		c.hosts.giveUpUnreached(asked, o.Reason())
		c.tryLater(h, v.Reason)
	case judge.GiveUp:
		c.hosts.giveUp(h, schema.GaveUpConnection, v.Reason)
	}
	return nil
}

// store keeps an answer that is valid for the host. An empty text allows everything.
func (c *robotsCache) store(h *schema.Host, live *liveHost, v judge.RobotsVerdict, o *ring.Outcome) error {
	h.RobotsAt, h.RobotsStatus, h.RobotsTries = o.FirstByte.Truncate(time.Millisecond), v.Status, 0
	h.RobotsDue, h.RobotsReason, h.RobotsHTML = time.Time{}, schema.Reason{}, media.LooksLikeHTML(v.Text)
	here := o.Step.For == o.Step.Host
	if o.Step.Visit.Unreached && here {
		h.WWW = isWWW(o.Step.URL, h.Name)
	}
	file := schema.RobotsCopy{At: h.RobotsAt, Status: v.Status, Text: v.Text}
	if err := c.in.tx.Hosts.PutRobots(h.ID, file); err != nil {
		return err
	}
	if old := c.parsed[h.ID]; old != nil {
		delete(c.parsed, h.ID)
		c.size -= old.Size()
	}
	if _, err := c.copied(h); err != nil {
		return err
	}
	if here {
		live.ready = clock.ReadyAfter(c.in.set.Config, h, live.ready, o)
	} else if at := h.LastByte.Add(time.Millisecond + c.in.set.Config.FullDelay(h)); at.After(live.ready) {
		live.ready = at // the answer of another host contained a Crawl-delay
	}
	c.in.log.Debug("robots.txt", "host", h.Name, "status_code", v.Status, "crawl_delay", h.CrawlDelay)
	return nil
}

// askAt follows a redirect of a robots.txt: on the same host by a request; on another host, perhaps of another shard,
// as one of the hosts that wait for that target.
func (c *robotsCache) askAt(h *schema.Host, live *liveHost, v judge.RobotsVerdict) error {
	id, err := c.hosts.identify(v.At.Host())
	if err != nil {
		return err
	}
	next := *v.Next
	next.Host = id
	if id != h.ID {
		h.RobotsFrom, h.RobotsSince = v.At.Host(), c.in.now.Truncate(time.Millisecond)
		return c.ask(id, next.URL, waiter{step: next})
	}
	live.robots = true
	live.goOn(next)
	return nil
}

// tryLater notes that robots.txt could not be fetched, and when to retry.
func (c *robotsCache) tryLater(h *schema.Host, why schema.Reason) {
	h.RobotsTries = min(h.RobotsTries, math.MaxUint8-1) + 1
	if isFinal(why) {
		h.RobotsTries = uint8(min(c.in.set.Config.Retry.MaxRetries+1, math.MaxUint8))
	}
	h.RobotsReason = why
	wait := clock.RobotsBackoff(c.in.set.Config, h)
	h.RobotsDue = c.in.now.Add(wait)
	if !clock.TriedOut(c.in.set.Config, h) { // else the host is given up, unless a copy is still valid
		c.in.log.Debug("robots.txt is tried again", "host", h.Name, "reason", why.String(),
			"tries", h.RobotsTries, "wait", wait)
	}
}

// isFinal reports whether a retry for a robots.txt would have the same result in this run, because the host that it
// redirects to gets no requests.
func isFinal(why schema.Reason) bool {
	switch why.Cause {
	case schema.CauseManyTargets, schema.CauseDenied, schema.CauseTargetGivenUp, schema.CauseRobots:
		return true
	case schema.CauseRedirectLoop: // else the loop consists of redirects only
		return why.Host != ""
	}
	return false
}

// withdraw handles a request for robots.txt that was planned but not sent. It is planned again, unless its host gets
// no more requests: then the hosts whose robots.txt redirects there get no answer.
func (c *robotsCache) withdraw(step ring.Step) error {
	if step.For != 0 {
		c.hosts.live.of(step.For).robots = false
		return nil
	}
	h, err := c.hosts.change(step.Host)
	if err != nil {
		return err
	}
	if !noMore(c.in, h) {
		c.hosts.live.of(h.ID).goOn(step)
		return nil
	}
	t := c.targets[step.URL]
	if t == nil {
		return nil
	}
	delete(c.targets, t.url)
	c.serveAll(t, ring.Report{Cause: schema.CauseTargetGivenUp}, c.in.now)
	return nil
}
