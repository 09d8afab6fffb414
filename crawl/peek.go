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
	maxPeekRest = 10 * time.Second // a host with a longer delay is not requested
)

// PeekOptions say which hosts are examined.
type PeekOptions struct {
	Config *config.Config
	Store  *kv.Store    // state of earlier crawls; nil: there was none
	Busy   bool         // a crawl may be sending requests to the hosts: Peek sends none
	Seeds  []weburl.URL // one for each host
}

// A Peeked is what is known of a host's robots.txt.
type Peeked struct {
	Host   string
	Copied time.Time     // when a crawl fetched the copy in force; zero: there is none
	Asked  bool          // it was requested just now
	Status int           // of the last answer, or of the copy in force; 0: there was no answer
	Rules  *robots.Rules // nil: unavailable
	Error  string        // short reason why there was no answer or no request; empty if a copy is in force
}

// keep puts a copy in force.
func (p *Peeked) keep(file *schema.RobotsCopy, agent string) {
	p.Copied, p.Status, p.Rules = file.At, file.Status, robots.Parse(file.Text, agent)
}

// Peek reports what the robots.txt of hosts says, and writes nothing. It is for a person who looks
// before crawling.
//
// A copy in the state file is in force as in a crawl, and an old one if there is no answer. Other
// hosts are requested, a few at a time, and redirects are followed as a crawl follows them. Peek is
// as polite as a crawl that is started: it requests a host when the host's full delay has passed
// since the call, and not if that delay is over 10 s or the host is suspended. It waits before it
// returns, so that a crawl may start at once.
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
	rest   time.Duration // wait before each round of requests, and after the last
	clocks pace.Clocks
}

// A peek is the search for one robots.txt, over redirects.
type peek struct {
	*Peeked
	step ring.Step
	host string             // the next request goes to it
	own  string             // its robots.txt is wanted
	old  *schema.RobotsCopy // in force if there is no answer; nil: none
	done bool
}

// The ids of hosts in a peek, which uses no store.
const (
	ownHost schema.HostID = 1 + iota
	otherHost
)

// recall answers from the state file, or queues a request.
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

// queue queues the request to a host, or records why there is none.
func (p *peeker) queue(ask *peek, rest time.Duration, why string) {
	if why != "" {
		ask.Status, ask.Error = 0, why
		return
	}
	p.rest = max(p.rest, rest)
	p.asks = append(p.asks, ask)
}

// known returns the delay of a host, why it must not be requested now, and the copy of its
// robots.txt. Each is zero if there is none.
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

// round sends one request to every host that waits, and keeps the peeks that need another request.
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

// awaitAddress waits for the clock of the address that a step will use, which hosts may share, and
// starts it.
func (p *peeker) awaitAddress(ctx context.Context, step *ring.Step) error {
	if !clocked(*step) {
		return nil
	}
	addresses, err := p.set.Client.Resolve(ctx, weburl.Host(step.URL))
	if err != nil || len(addresses) == 0 {
		return nil // the request will fail in the same way
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

// ask sends one request. The peek is done unless the answer redirects.
func (p *peek) ask(ctx context.Context, s *ring.Settings) {
	hash := func(schema.URLKind, string) uint64 { return 0 }
	v := visitors{parsers: newParsers(hash, nil, 1)}
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

// unavailable applies the rules that a crawl applies while robots.txt is unavailable.
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

// delay returns the Crawl-delay of the rules that were read.
func (p *peek) delay() time.Duration {
	if p.Rules == nil {
		return 0
	}
	delay, _ := p.Rules.CrawlDelay()
	return delay
}

// wait returns after d, or with the error of ctx.
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
