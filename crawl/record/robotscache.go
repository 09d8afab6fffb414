package record

import (
	"math"
	"time"

	"github.com/sumi-ripple/ripple/crawl/clock"
	"github.com/sumi-ripple/ripple/crawl/judge"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/crawl/robots"
	"github.com/sumi-ripple/ripple/schema"
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
	kept      []*target          // of the targets: those with an answer, the oldest first
	keptBytes int                // of their bodies

	servings            []serving
	served, servedBytes int // in this turn
}

// rules returns what robots.txt of a host says, nil if that must be asked first.
func (c *robotsCache) rules(h *schema.Host) (*robots.Rules, error) {
	switch cfg := c.in.set.Config; {
	case clock.CopyStands(cfg, h, c.in.now):
		return c.copied(h)
	case clock.AllAllowed(cfg, h, c.in.now):
		return robots.AllowAll(), nil
	}
	return nil, nil
}

// standing returns the rules that decide on a visit which is under way: if the copy
// has run out during it, still that.
func (c *robotsCache) standing(h *schema.Host) (*robots.Rules, error) {
	if rules, err := c.rules(h); err != nil || rules != nil {
		return rules, err
	}
	return c.copied(h)
}

// lastTry reports whether the host's robots.txt is not tried again if this try fails, whose
// answer the host's clock has heard.
func (c *robotsCache) lastTry(h *schema.Host) bool {
	return int(h.RobotsTries) >= c.in.set.Config.Retry.MaxRetries || clock.OutOfReach(h)
}

// copied returns the rules of the copy, however old it is; nil: there is none. The delay that they
// ask for may be another than before: what they say depends on the crawler's name.
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
	if delay, _ := rules.CrawlDelay(); delay != h.CrawlDelay {
		h.CrawlDelay = delay
		c.hosts.put(h)
	}
	return rules, nil
}

// request is the step that asks for a host's robots.txt, at the authority at which
// the host is asked.
func (c *robotsCache) request(h *schema.Host, form string) *ring.Step {
	if h.RobotsFrom != "" { // of a process that was killed
		h.RobotsFrom, h.RobotsSince = "", time.Time{}
		c.hosts.put(h)
	}
	return &ring.Step{
		Kind: ring.Robots, Host: h.ID, For: h.ID, URL: "https://" + weburl.Host(form) + "/robots.txt",
		Timeout: c.in.set.Timeout(int(h.RobotsTries)), Settings: c.in.set,
	}
}

// apply acts on what the judge says of an answer, which may have come from another
// host than the one that it is for.
func (c *robotsCache) apply(asked *schema.Host, o *ring.Outcome, v judge.RobotsVerdict) error {
	h, err := c.hosts.change(o.Step.For)
	if err != nil {
		return err
	}
	live := c.hosts.live.of(h.ID)
	live.robots, live.at = v.Act == judge.Ask, nil
	h.RobotsFrom, h.RobotsSince = "", time.Time{}
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

// store keeps an answer that holds for the host. No text allows all.
func (c *robotsCache) store(h *schema.Host, live *liveHost, v judge.RobotsVerdict, o *ring.Outcome) error {
	h.RobotsAt, h.RobotsStatus, h.RobotsTries = o.FirstByte.Truncate(time.Millisecond), v.Status, 0
	h.RobotsDue, h.RobotsReason = time.Time{}, schema.Reason{}
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
		live.ready = at // another host's answer has brought a Crawl-delay
	}
	c.in.log.Debug("robots.txt", "host", h.Name, "status_code", v.Status, "crawl_delay", h.CrawlDelay)
	return nil
}

// askAt follows a redirect of a robots.txt: at the same host by a request, at another one, perhaps of another shard, as
// one of all who are sent there.
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

// tryLater notes that robots.txt could not be had, and when it is tried again.
func (c *robotsCache) tryLater(h *schema.Host, why schema.Reason) {
	h.RobotsTries = min(h.RobotsTries, math.MaxUint8-1) + 1
	if isFinal(why) {
		h.RobotsTries = uint8(min(c.in.set.Config.Retry.MaxRetries+1, math.MaxUint8))
	}
	h.RobotsReason = why
	wait := clock.RobotsBackoff(c.in.set.Config, h)
	h.RobotsDue = c.in.now.Add(wait)
	if !clock.TriedOut(c.in.set.Config, h) { // else the host is given up, unless a copy stands
		c.in.log.Debug("robots.txt is tried again", "host", h.Name, "reason", why.String(),
			"tries", h.RobotsTries, "wait", wait)
	}
}

// isFinal reports whether another try for a robots.txt would come to the same in this run: the host that it redirects
// to is not asked.
func isFinal(why schema.Reason) bool {
	switch why.Cause {
	case schema.CauseManyTargets, schema.CauseDenied, schema.CauseTargetGivenUp, schema.CauseRobots:
		return true
	case schema.CauseRedirectLoop: // else the loop is one of redirects alone
		return why.Host != ""
	}
	return false
}

// withdraw follows a request for robots.txt that is not made, because its host was
// given up. Hosts whose robots.txt redirect there have no answer, unless it is to be had.
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
