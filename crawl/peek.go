package crawl

import (
	"context"
	"errors"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/crawl/fetch"
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
	Copied time.Time     // when a crawl took the copy that stands; zero: the host was to be asked
	Status int           // of the last answer; 0: there was none
	Rules  *robots.Rules // nil: unavailable
	Error  string        // why there was no answer, or no request, in a few words
}

// Peek tells what the robots.txt of hosts says, and writes nothing: it is for a
// person who looks before walking. A copy in the state file stands as it does in a
// crawl; other hosts are asked, a few at a time, and redirects followed as a crawl
// follows them. It is as polite as a crawl that is started, and rests before it
// returns, so that one may be started at once: a host is asked when its full delay
// has passed since the call, or not at all if that is long or the host is suspended.
func Peek(ctx context.Context, o PeekOptions) ([]Peeked, error) {
	set, err := newSettings(o.Config)
	if err != nil {
		return nil, err
	}
	defer set.client.Close()
	p := &peeker{PeekOptions: o, set: set, now: time.Now()}
	found := make([]Peeked, len(o.Seeds))
	for i, seed := range o.Seeds {
		authority := weburl.Host(seed.Form)
		found[i].Host = authority
		ask := &peek{Peeked: &found[i], url: "https://" + authority + "/robots.txt", host: seed.Host()}
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
	set  *settings
	now  time.Time
	asks []*peek
	rest time.Duration // before every round of requests, and after the last
}

// A peek is the way to one answer.
type peek struct {
	*Peeked
	url, host string
	hops      int
	done      bool
}

// recall answers from the state file, or makes the peek one of those that ask.
func (p *peeker) recall(ask *peek) error {
	rest, why, file, err := p.known(ask.host)
	if err != nil {
		return err
	}
	if !file.At.IsZero() && (why != "" || p.now.Sub(file.At) < p.Config.Politeness.RobotsTTL) {
		ask.Copied, ask.Status, ask.Rules = file.At, file.Status, robots.AllowAll()
		if file.Text != nil {
			ask.Rules = robots.Parse(file.Text, p.Config.UserAgent.CrawlerName)
		}
		return nil
	}
	p.queue(ask, rest, why)
	return nil
}

// queue has a host asked, unless there is a reason not to.
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
			id, ok, err := tx.HostByName(host)
			if err != nil || !ok {
				return err
			}
			if h, err = tx.Host(id); err == nil {
				file, _, err = tx.Robots(id)
			}
			return err
		})
	}
	if err != nil {
		return 0, "", file, err
	}
	clampClocks(p.Config, h, p.now)
	rest = fullDelay(p.Config, h)
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
		if len(asked) > 0 && !p.set.exempt(ask.host) { // hosts may share an address
			if err := wait(ctx, p.Config.Politeness.MinimumTimePerAddress); err != nil {
				break
			}
		}
		asked[ask.host] = true
		led = append(led, ask)
		g.Go(func() error {
			p.set.peek(ctx, ask)
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

// peek asks once. It is done unless the answer is a redirect that may be followed.
func (s *settings) peek(ctx context.Context, p *peek) {
	resp, err := s.client.Do(ctx, fetch.Request{
		URL: p.url, Timeout: min(s.cfg.Retry.Timeout, peekTimeout), Cut: true,
		Accept: func(int, http.Header) int64 { return robots.MaxBytes },
	})
	p.done = true
	if err != nil && !cutShort(err) {
		p.Status, p.Error = 0, causeOf(err)
		return
	}
	p.Status = resp.Status
	switch {
	case resp.Status >= 200 && resp.Status <= 299:
		p.Rules = robots.Parse(resp.Body, s.cfg.UserAgent.CrawlerName)
		return
	case resp.Status == http.StatusTooManyRequests, resp.Status >= 500:
		return
	}
	to, ok := s.redirected(p.url, resp.Header.Get("Location"))
	if p.hops++; resp.Status >= 400 || !ok || p.hops > maxRobotsHops {
		p.Rules = robots.AllowAll()
		return
	}
	p.url, p.host, p.done = to.Form, to.Host(), false
}

// delay is the Crawl-delay that was read.
func (p *peek) delay() time.Duration {
	if p.Rules == nil {
		return 0
	}
	delay, _ := p.Rules.CrawlDelay()
	return delay
}

// causeOf says in a few words why there was no answer.
func causeOf(err error) string {
	var e *fetch.Error
	if errors.As(err, &e) {
		return e.Cause.String()
	}
	return schema.Clean(err.Error(), 256)
}

// cutShort reports a body that was read as far as its limit.
func cutShort(err error) bool {
	var e *fetch.Error
	return errors.As(err, &e) && e.Cause == fetch.TooLarge
}

// redirected returns where a redirect of robots.txt leads, if that may be visited.
func (s *settings) redirected(from, location string) (weburl.URL, bool) {
	if location == "" {
		return weburl.URL{}, false
	}
	base, err := s.rules.Base(from)
	if err != nil {
		return weburl.URL{}, false
	}
	to, err := base.Parse(location)
	return to, err == nil && s.terrain.Classify(to.Norm).Class.Visitable()
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
