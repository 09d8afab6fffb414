package record

import (
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/sumi-ripple/ripple/crawl/clock"
	"github.com/sumi-ripple/ripple/crawl/judge"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// Bounds on what is kept of answers that serve several hosts. The oldest goes first.
const (
	maxAnswers     = 4096
	maxAnswerBytes = 32 << 20
)

// How much is given in one turn to hosts that wait for an answer: hosts, and bytes of what they keep of it.
const (
	maxServed      = 1000
	maxServedBytes = 8 << 20
)

// A target is an address that a host is asked for because the robots.txt of other hosts redirects there. One answer
// serves all of them. A target is in memory only: a host that was still waiting after a restart starts over.
type target struct {
	url   string
	host  schema.HostID
	waits []waiter
	needs schema.HostID // the host whose robots.txt must permit the request first; 0: none, as far as is known

	answer ring.Report
	at     time.Time // of the answer's first byte
	until  time.Time // how long the answer serves; zero: there is none yet
}

// A waiter waits for the answer of a target.
type waiter struct {
	step ring.Step           // for a host of this shard: what its robots.txt has led to
	tell func(r ring.Report) // for a host of another shard
}

// A serving gives an answer to those who waited for a target.
type serving struct {
	t      *target
	waits  []waiter
	answer ring.Report
	at     time.Time
}

// ask has a host asked for the URL of a waiter, or gives the waiter the answer that is there.
func (c *robotsCache) ask(host schema.HostID, url string, w waiter) error {
	t := c.targets[url]
	if t != nil && t.until.After(c.in.now) && c.in.now.Sub(t.at) < c.in.set.Config.Politeness.RobotsTTL {
		return c.serve(t, w, t.answer, t.at)
	}
	isNew := t == nil || !t.until.IsZero()
	if isNew {
		t = &target{url: url, host: host}
		c.targets[url] = t
	}
	t.waits = append(t.waits, w)
	if w.tell == nil {
		waiting := c.hosts.live.of(w.step.For)
		waiting.robots, waiting.at = true, t
	}
	if !isNew {
		return c.breakLoop(t, w)
	}
	live := c.hosts.live.of(host)
	if c.in.store.Foreign(host) {
		step := c.targetStep(t)
		step.Errand = &ring.Errand{
			From: c.in.store.Part().Shard, To: c.in.store.ShardOf(host), ID: rand.Uint64(), URL: url,
		}
		live.goOn(step)
	} else {
		live.unpermitted = append(live.unpermitted, t)
	}
	c.hosts.touch(host)
	return nil
}

func (c *robotsCache) targetStep(t *target) ring.Step {
	return ring.Step{
		Kind: ring.Robots, Host: t.host, URL: t.url, Settings: c.in.set,
		Timeout: max(c.in.set.Timeout(0), t.waits[0].step.Timeout),
	}
}

// permit sends the requests that others wait for and that the host permits. As long as its own robots.txt is not
// known, the others wait, and it is asked first.
func (c *robotsCache) permit(h *schema.Host, live *liveHost) error {
	waiting, undecided := live.unpermitted, false
	live.unpermitted = nil
	for _, t := range waiting {
		if len(t.waits) == 0 {
			delete(c.targets, t.url)
			continue
		}
		if undecided && t.needs == h.ID { // as of the one before
			live.unpermitted = append(live.unpermitted, t)
			continue
		}
		why, known, err := c.refuses(h, t.url)
		switch {
		case err != nil:
			return err
		case !known:
			undecided, t.needs = true, h.ID
			live.unpermitted = append(live.unpermitted, t)
			if err := c.breakLoops(t); err != nil {
				return err
			}
		case why != schema.CauseNone:
			delete(c.targets, t.url)
			c.serveAll(t, ring.Report{Cause: why}, c.in.now)
		default:
			t.needs = 0
			live.goOn(c.targetStep(t))
		}
	}
	if len(live.unpermitted) > 0 && !live.robots && !h.RobotsDue.After(c.in.now) {
		live.robots = true
		live.goOn(*c.request(h, live.unpermitted[0].url))
	}
	return nil
}

// orPermit is the earlier of a time to wake a host and that of the next try for its robots.txt, if others wait for it.
func (c *robotsCache) orPermit(wake time.Time, h *schema.Host, live *liveHost) time.Time {
	if len(live.unpermitted) == 0 || !h.RobotsDue.After(c.in.now) || !wake.IsZero() && wake.Before(h.RobotsDue) {
		return wake
	}
	return h.RobotsDue
}

// refuses says why a host is not asked for an address to which the robots.txt of another host redirects. That is not
// known before the host's own robots.txt is, unless the address is itself that of a robots.txt. An address that is not
// refused is counted.
func (c *robotsCache) refuses(h *schema.Host, url string) (why schema.Cause, known bool, err error) {
	if noMore(c.in, h) {
		return schema.CauseTargetGivenUp, true, nil
	}
	if path, _, _ := strings.Cut(url, "?"); !strings.HasSuffix(path, "/robots.txt") {
		triedOut := clock.TriedOut(c.in.set.Config, h) && h.RobotsDue.After(c.in.now)
		if triedOut && h.RobotsReason.Cause == schema.CauseRedirectLoop {
			return schema.CauseRedirectLoop, true, nil // whichever host of the loop comes first
		}
		rules, err := c.rules(h)
		switch {
		case err != nil:
			return schema.CauseNone, false, err
		case rules == nil && (triedOut || h.RunGivenUp != schema.NotGivenUp):
			return schema.CauseRobots, true, nil
		case rules == nil:
			return schema.CauseNone, false, nil
		case !rules.Check(weburl.PathQuery(url)).Allowed:
			return schema.CauseDenied, true, nil
		}
	}
	hash := c.in.store.Hash(schema.KindPage, url)
	switch {
	case slices.Contains(h.Targets, hash):
	case len(h.Targets) >= schema.MaxTargets:
		return schema.CauseManyTargets, true, nil
	default:
		h.Targets = append(h.Targets, hash)
		c.hosts.put(h)
	}
	return schema.CauseNone, true, nil
}

// noMore reports whether a host is not even asked for what the robots.txt of another one is.
func noMore(in *runState, h *schema.Host) bool {
	return h.RunGivenUp == schema.GaveUpConnection || h.RunGivenUp == schema.GaveUpRateLimit ||
		in.set.Config.AsksTooMuch(h)
}

// answered takes what the request for a target has brought.
func (c *robotsCache) answered(asked *schema.Host, live *liveHost, o *ring.Outcome, v judge.RobotsVerdict) error {
	t := c.targets[o.Step.URL]
	if t == nil {
		return nil
	}
	serves := c.in.set.Config.Politeness.RobotsTTL
	switch v.Act {
	case judge.Forget:
		live.goOn(o.Step)
		return nil
	case judge.Ask:
		live.goOn(*v.Next)
		return nil
	case judge.TryLater:
		c.hosts.giveUpUnreached(asked, o.Reason())
		if v.Reason.Cause != schema.CauseRedirectLoop {
			serves = c.in.set.Config.Retry.Delay
		}
	}
	t.answer, t.at, t.until = o.Report(), o.FirstByte, o.FirstByte.Add(serves)
	c.keep(t)
	c.serveAll(t, t.answer, t.at)
	return nil
}

// keep bounds the answers that are kept.
func (c *robotsCache) keep(t *target) {
	c.kept = append(c.kept, t)
	c.keptBytes += len(t.answer.Body)
	for len(c.kept) > maxAnswers || c.keptBytes > maxAnswerBytes {
		oldest := c.kept[0]
		c.kept = c.kept[1:]
		c.keptBytes -= len(oldest.answer.Body)
		if c.targets[oldest.url] == oldest {
			delete(c.targets, oldest.url)
		}
	}
}

// serveAll has an answer given to all who wait for a target, in this turn or, if they are many, in those after it.
func (c *robotsCache) serveAll(t *target, r ring.Report, at time.Time) {
	c.servings = append(c.servings, serving{t: t, waits: t.waits, answer: r, at: at})
	t.waits, t.needs = nil, 0
}

// serveOn gives answers to those who wait for them, as many as a turn may.
func (c *robotsCache) serveOn() error {
	for len(c.servings) > 0 && c.served < maxServed && c.servedBytes < maxServedBytes {
		s := &c.servings[0]
		if len(s.waits) == 0 {
			c.servings = c.servings[1:]
			continue
		}
		w := s.waits[0]
		s.waits = s.waits[1:]
		c.served, c.servedBytes = c.served+1, c.servedBytes+len(s.answer.Body)
		if err := c.serve(s.t, w, s.answer, s.at); err != nil {
			return err
		}
	}
	return nil
}

// serve gives an answer of a target to one who waits, who keeps it for as long as the first one does.
func (c *robotsCache) serve(t *target, w waiter, r ring.Report, at time.Time) error {
	if w.tell != nil {
		r.Age = max(0, c.in.now.Sub(at))
		w.tell(r)
		return nil
	}
	asked, err := c.hosts.load(t.host)
	if err != nil {
		return err
	}
	o := ring.Outcome{Step: w.step, FirstByte: at, Done: at, RetryAfter: -1}
	o.Bring(r)
	return c.apply(asked, &o, judge.Robots(&o, asked.Name, false))
}

// behind notes which host the request for a target waits for, as its shard says; empty: for none.
func (c *robotsCache) behind(url, name string) error {
	t := c.targets[url]
	if t == nil {
		return nil
	}
	if t.needs = 0; name != "" {
		var err error
		if t.needs, err = c.hosts.find(name); err != nil {
			return err
		}
	}
	return c.breakLoops(t)
}

// breakLoops is breakLoop of all who wait for a target.
func (c *robotsCache) breakLoops(t *target) error {
	for _, w := range slices.Clone(t.waits) {
		if err := c.breakLoop(t, w); err != nil {
			return err
		}
	}
	return nil
}

// breakLoop ends the waiting of a host that waits for itself: it needs the robots.txt of a host, whose own needs that
// of the next, and so on back to it.
func (c *robotsCache) breakLoop(t *target, w waiter) error {
	if w.tell != nil || t.needs == 0 || c.end(t.needs, w.step.For) != w.step.For {
		return nil
	}
	t.waits = slices.DeleteFunc(t.waits, func(o waiter) bool { return o.tell == nil && o.step.For == w.step.For })
	return c.serve(t, w, ring.Report{Cause: schema.CauseRedirectLoop}, c.in.now)
}

// end follows the hosts that need each other's robots.txt, from one to another that is looked for, or to the last.
func (c *robotsCache) end(from, to schema.HostID) schema.HostID {
	for range len(c.hosts.live.byID) { // the circle of others is theirs to break
		live := c.hosts.live.byID[from]
		if from == to || live == nil || live.at == nil || live.at.needs == 0 {
			break
		}
		from = live.at.needs
	}
	return from
}

// waitsFor names the host whose robots.txt the request for a target waits for in the end; empty: it waits for none.
func (c *robotsCache) waitsFor(url string) string {
	t := c.targets[url]
	if t == nil || t.needs == 0 {
		return ""
	}
	var name string
	err := c.in.store.View(func(tx *kv.Tx) (err error) {
		name, err = tx.Hosts.Name(c.end(t.needs, 0))
		return err
	})
	if err != nil {
		return ""
	}
	return name
}

// inherit takes over the answers that another cache of the same store has kept.
func (c *robotsCache) inherit(from *robotsCache) {
	for _, t := range from.kept {
		if from.targets[t.url] == t {
			c.targets[t.url] = t
			c.keep(t)
		}
	}
}
