package crawl

import (
	"context"
	"errors"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/crawl/fetch"
	"github.com/sumi-ripple/ripple/crawl/robots"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

const (
	peekAtOnce  = 4
	peekTimeout = 10 * time.Second
)

// A Peeked is what a host answered when its robots.txt was asked.
type Peeked struct {
	Host   string
	Status int           // of the last answer; 0: there was none
	Rules  *robots.Rules // nil: unavailable
	Error  string        // why there was no answer, in a few words
}

// Peek asks hosts for their robots.txt, each once, a few at a time, and writes
// nothing: it is for a person who looks before walking. Redirects are followed as
// a crawl follows them.
func Peek(ctx context.Context, cfg *config.Config, hosts []string) ([]Peeked, error) {
	set, err := newSettings(cfg)
	if err != nil {
		return nil, err
	}
	defer set.client.Close()
	found := make([]Peeked, len(hosts))
	var g errgroup.Group
	g.SetLimit(peekAtOnce)
	for i, host := range hosts {
		g.Go(func() error {
			found[i] = set.peek(ctx, host)
			return ctx.Err()
		})
	}
	return found, g.Wait()
}

func (s *settings) peek(ctx context.Context, host string) Peeked {
	p := Peeked{Host: host}
	url := "https://" + host + "/robots.txt"
	for range maxRobotsHops + 1 {
		resp, err := s.client.Do(ctx, fetch.Request{
			URL: url, Timeout: min(s.cfg.Retry.Timeout, peekTimeout), Cut: true,
			Accept: func(int, http.Header) int64 { return robots.MaxBytes },
		})
		if err != nil && !cutShort(err) {
			p.Status, p.Error = 0, causeOf(err)
			return p
		}
		p.Status = resp.Status
		switch {
		case resp.Status >= 200 && resp.Status <= 299:
			p.Rules = robots.Parse(resp.Body, s.cfg.UserAgent.CrawlerName)
			return p
		case resp.Status == http.StatusTooManyRequests, resp.Status >= 500:
			return p
		case resp.Status >= 400:
			p.Rules = robots.AllowAll()
			return p
		}
		if url = s.redirected(url, resp.Header.Get("Location")); url == "" {
			break
		}
	}
	p.Rules = robots.AllowAll()
	return p
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

// redirected returns where a redirect of robots.txt leads; empty: nowhere that
// may be visited.
func (s *settings) redirected(from, location string) string {
	if location == "" {
		return ""
	}
	base, err := s.rules.Base(from)
	if err != nil {
		return ""
	}
	to, err := base.Parse(location)
	if err != nil || !s.terrain.Classify(to.Norm).Class.Visitable() || weburl.Host(to.Form) == "" {
		return ""
	}
	return to.Form
}
