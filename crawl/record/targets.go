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

// Limits of the kept answers that serve several hosts. The oldest answer is dropped first.
const (
	maxAnswers     = 4096
	maxAnswerBytes = 32 << 20
)

// Limits of a turn for hosts that wait for an answer: hosts served, and bytes that these hosts keep.
const (
	maxServed      = 1000
	maxServedBytes = 8 << 20
)

// A target is an address that is requested because the robots.txt of other hosts redirects there. One answer
// serves all of them. A target is in memory only: a host that was still waiting after a restart starts over.
type target struct {
	url   string
	host  schema.HostID
	waits []waiter
	needs schema.HostID // the host whose robots.txt must permit the request first; 0: none known

	answer ring.Report
	at     time.Time // time of the answer's first byte
	until  time.Time // when the answer expires; zero: there is none yet
}

// A waiter waits for the answer of a target.
type waiter struct {
	step ring.Step           // for a host of this shard: the redirected request for its robots.txt
	tell func(r ring.Report) // for a host of another shard
}

// A serving passes an answer to the waiters of a target.
type serving struct {
	t      *target
	waits  []waiter
	answer ring.Report
	at     time.Time
}

// ask requests a URL from a host for a waiter, or passes on the answer if there is one.
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

// permit queues the requests that other hosts wait for and that this host permits. Until its own robots.txt is known,
// the others wait, and that is requested first.
func (c *robotsCache) permit(h *schema.Host, live *liveHost) error {
	waiting, undecided := live.unpermitted, false
	live.unpermitted = nil
	for _, t := range waiting {
		if len(t.waits) == 0 {
			delete(c.targets, t.url)
			continue
		}
		if undecided && t.needs == h.ID { // the same as for the one before
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

// orPermit returns the earlier of wake and the next retry for the host's robots.txt, if others wait for it.
func (c *robotsCache) orPermit(wake time.Time, h *schema.Host, live *liveHost) time.Time {
	if len(live.unpermitted) == 0 || !h.RobotsDue.After(c.in.now) || !wake.IsZero() && wake.Before(h.RobotsDue) {
		return wake
	}
	return h.RobotsDue
}

// refuses returns why a host gets no request for an address to which the robots.txt of another host redirects. That is
// not known before the host's own robots.txt is, unless the address is itself a robots.txt. An address that is not
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

// noMore reports whether a host gets no more requests, not even for the robots.txt of another host.
func noMore(in *runState, h *schema.Host) bool {
	return h.RunGivenUp == schema.GaveUpConnection || h.RunGivenUp == schema.GaveUpRateLimit ||
		in.set.Config.AsksTooMuch(h)
}

// answered applies the answer to the request for a target.
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

// keep adds an answer to those that are kept, within their limits.
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

// serveAll passes an answer to all waiters of a target: in this turn or, if they are many, in the next ones.
func (c *robotsCache) serveAll(t *target, r ring.Report, at time.Time) {
	c.servings = append(c.servings, serving{t: t, waits: t.waits, answer: r, at: at})
	t.waits, t.needs = nil, 0
}

// serveOn passes answers to waiters, within the limits of a turn.
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

// serve passes the answer of a target to one waiter. It expires for all waiters at the same time.
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

// behind notes which host the request for a target waits for, as reported by its shard; empty: none.
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

// breakLoops calls breakLoop for all waiters of a target.
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

// waitsFor returns the host whose robots.txt the request for a target waits for in the end; empty: none.
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
