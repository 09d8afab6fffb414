package crawl

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/crawl/clock"
	"github.com/sumi-ripple/ripple/crawl/judge"
	"github.com/sumi-ripple/ripple/crawl/pace"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/crawl/robots"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

const (
	peekAtOnce  = 4
	peekTimeout = 10 * time.Second
	maxPeekRest = 10 * time.Second // a host with a longer delay is not asked
)

// PeekOptions say what is looked at.
type PeekOptions struct {
	Config *config.Config
	Store  *kv.Store    // what earlier crawls know of the hosts; nil: there was none
	Busy   bool         // a crawl may be asking the hosts just now: nobody else does
	Seeds  []weburl.URL // one for each host
}

// A Peeked is what is known of a host's robots.txt.
type Peeked struct {
	Host   string
	Copied time.Time     // when a crawl took the copy that stands; zero: none does
	Asked  bool          // just now
	Status int           // of the last answer, or of the copy that stands; 0: there was none
	Rules  *robots.Rules // nil: unavailable
	Error  string        // why there was no answer, or no request, in a few words; empty where a copy stands
}

// keep has a copy stand.
func (p *Peeked) keep(file *schema.RobotsCopy, agent string) {
	p.Copied, p.Status, p.Rules = file.At, file.Status, robots.Parse(file.Text, agent)
}

// Peek tells what the robots.txt of hosts says, and writes nothing: it is for a
// person who looks before walking. A copy in the state file stands as it does in a
// crawl, an old one where there is no answer; other hosts are asked, a few at a time,
// and redirects followed as a crawl follows them. It is as polite as a crawl that is
// started, and rests before it returns, so that one may be started at once: a host is
// asked when its full delay has passed since the call, or not at all if that is long or
// the host is suspended.
func Peek(ctx context.Context, o PeekOptions) ([]Peeked, error) {
	set, err := ring.NewSettings(o.Config)
	if err != nil {
		return nil, err
	}
	defer set.Client.Close()
	p := &peeker{PeekOptions: o, set: set, now: time.Now()}
	found := make([]Peeked, len(o.Seeds))
	for i, seed := range o.Seeds {
		found[i].Host = seed.Host()
		ask := &peek{Peeked: &found[i], host: seed.Host(), own: seed.Host(), step: ring.Step{
			Kind: ring.Robots, Host: ownHost, For: ownHost, URL: "https://" + weburl.Host(seed.Form) + "/robots.txt",
			Timeout: min(o.Config.Retry.Timeout, peekTimeout), Settings: set,
		}}
		if err := p.recall(ask); err != nil {
			return nil, err
		}
	}
	for len(p.asks) > 0 {
		if err := wait(ctx, p.rest); err != nil {
			return nil, err
		}
		if err := p.round(ctx); err != nil {
			return nil, err
		}
	}
	return found, wait(ctx, p.rest)
}

// A peeker is one call of Peek.
type peeker struct {
	PeekOptions
	set    *ring.Settings
	now    time.Time
	asks   []*peek
	rest   time.Duration // before every round of requests, and after the last
	clocks pace.Clocks
}

// A peek is the way to one answer.
type peek struct {
	*Peeked
	step ring.Step
	host string             // that is asked
	own  string             // whose robots.txt it is
	old  *schema.RobotsCopy // that stands if there is no answer; nil: there is none
	done bool
}

// The ids of hosts in a peek, which knows no store.
const (
	ownHost schema.HostID = 1 + iota
	otherHost
)

// recall answers from the state file, or makes the peek one of those that ask.
func (p *peeker) recall(ask *peek) error {
	rest, why, file, err := p.known(ask.host)
	if err != nil {
		return err
	}
	age := p.now.Sub(file.At)
	if !file.At.IsZero() && (why != "" || age < p.Config.Politeness.RobotsTTL) {
		ask.keep(&file, p.Config.UserAgent.CrawlerName)
		return nil
	}
	if !file.At.IsZero() && age < schema.MaxRobotsAge {
		ask.old = &file
	}
	p.queue(ask, rest, why)
	return nil
}

// queue queues the request to a host, or records why not.
func (p *peeker) queue(ask *peek, rest time.Duration, why string) {
	if why != "" {
		ask.Status, ask.Error = 0, why
		return
	}
	p.rest = max(p.rest, rest)
	p.asks = append(p.asks, ask)
}

// known returns the delay of a host, why it is not to be asked now, and the copy
// of its robots.txt; what there is none of is zero.
func (p *peeker) known(host string) (rest time.Duration, why string, file schema.RobotsCopy, err error) {
	h := &schema.Host{}
	if p.Store != nil {
		err = p.Store.View(func(tx *kv.Tx) error {
			id, ok, err := tx.Hosts.Lookup(host)
			if err != nil || !ok {
				return err
			}
			if h, err = tx.Hosts.At(id); err == nil {
				file, _, err = tx.Hosts.Robots(id)
			}
			return err
		})
	}
	if err != nil {
		return 0, "", file, err
	}
	clock.Clamp(p.Config, h, p.now)
	rest = max(p.Config.BaseDelay(h), p.Config.FullDelay(h))
	switch {
	case p.Busy:
		why = "a crawl is at work"
	case h.SuspendedTo.After(p.now):
		why = "suspended until " + h.SuspendedTo.UTC().Format(time.RFC3339)
	case rest > maxPeekRest:
		why = "its delay is " + rest.String()
	}
	return rest, why, file, nil
}

// round asks every host that waits, each once, and keeps those that lead on.
func (p *peeker) round(ctx context.Context) error {
	var g errgroup.Group
	g.SetLimit(peekAtOnce)
	asked := map[string]bool{}
	var later, led []*peek
	for _, ask := range p.asks {
		if asked[ask.host] {
			later = append(later, ask)
			continue
		}
		asked[ask.host] = true
		led = append(led, ask)
		g.Go(func() error {
			if err := p.awaitAddress(ctx, &ask.step); err != nil {
				return err
			}
			ask.ask(ctx, p.set)
			return ctx.Err()
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	p.asks = later
	for _, ask := range led {
		if ask.done {
			p.rest = max(p.rest, min(ask.delay(), maxPeekRest))
			continue
		}
		rest, why, _, err := p.known(ask.host)
		if err != nil {
			return err
		}
		p.queue(ask, rest, why)
	}
	return ctx.Err()
}

// awaitAddress waits for the clock of the address that a step will ask, which hosts may
// share, and starts it.
func (p *peeker) awaitAddress(ctx context.Context, step *ring.Step) error {
	if !clocked(*step) {
		return nil
	}
	addresses, err := p.set.Client.Resolve(ctx, weburl.Host(step.URL))
	if err != nil || len(addresses) == 0 {
		return nil // which the request meets, too
	}
	gap := p.Config.Politeness.MinimumTimePerAddress
	for {
		again, free := p.clocks.Ask(addresses[0].String(), gap, time.Now())
		if free {
			return nil
		}
		if err := wait(ctx, time.Until(again)); err != nil {
			return err
		}
	}
}

// ask asks once. The peek is done unless the answer leads on.
func (p *peek) ask(ctx context.Context, s *ring.Settings) {
	hash := func(schema.URLKind, string) uint64 { return 0 }
	v := visitors{parsers: newParsers(hash, 1)}
	v.visit(ctx, p.step, func(o ring.Outcome) { p.answered(&o, s) })
}

func (p *peek) answered(o *ring.Outcome, s *ring.Settings) {
	p.Asked, p.Status, p.done = true, o.Status, true
	switch verdict := judge.Robots(o, p.host, true); verdict.Act {
	case judge.Keep:
		p.Rules = robots.Parse(verdict.Text, s.Config.UserAgent.CrawlerName)
	case judge.Ask:
		p.step, p.done = *verdict.Next, false
	case judge.AskAt:
		p.step, p.host, p.done = *verdict.Next, verdict.At.Host(), false
		p.step.Host = otherHost
		if p.host == p.own {
			p.step.Host = ownHost
		}
	case judge.TryLater:
		p.unavailable(o, s.Config)
	default:
		p.Error = o.Cause.String()
	}
}

// unavailable has stand what does in a crawl while robots.txt cannot be had.
func (p *peek) unavailable(o *ring.Outcome, cfg *config.Config) {
	if p.old != nil {
		p.keep(p.old, cfg.UserAgent.CrawlerName)
		return
	}
	if !o.Answered() {
		p.Error = o.Cause.String()
	}
	if cfg.Politeness.RobotsUnreachable == config.RobotsAllow {
		p.Rules = robots.AllowAll()
	}
}

// delay is the Crawl-delay that was read.
func (p *peek) delay() time.Duration {
	if p.Rules == nil {
		return 0
	}
	delay, _ := p.Rules.CrawlDelay()
	return delay
}

// wait returns when a time has passed, or with the error of ctx.
func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
