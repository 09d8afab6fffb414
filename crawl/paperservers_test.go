package crawl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"github.com/sumi-ripple/ripple/crawl/answers"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/fetch"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/crawl/slots"
	"github.com/sumi-ripple/ripple/crawl/webtest"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// A question is a request as a paper server sees it.
type question struct {
	host, method, path string
	n                  int // requests for that path before this one
	step               ring.Step
}

// A reply is the answer of a paper server.
type reply struct {
	status int
	header http.Header
	body   string
	wait   time.Duration // until the first byte
	last   time.Duration // from there to the end
	cause  fetch.Cause   // in place of an answer
}

// paperServers are a web without sockets. The scheduler and the recorder are real, time is that of
// a bubble, and requests are logged.
type paperServers struct {
	t       testing.TB
	path    string
	address string             // of every host
	begun   time.Time          // for measurements
	text    string             // of the newest crawl's configuration
	most    int                // outcomes per commit; 0: as many as the recorder takes
	shared  *Shared            // its network may be away; nil: no attribution is needed
	browser *crawltest.Browser // nil: no page is rendered
	room    int64              // for rendered pages; 0: as much as in a crawl
	mu      sync.Mutex
	log     []webtest.Entry
	asked   map[string]int
	host    map[string]func(question) reply
	other   func(question) reply // hosts without a function of their own; nil: 404

	deaf     int         // look-ups that fail first, for lack of resources of this machine
	lookedUp []time.Time // when
}

func newPaperServers(t testing.TB) *paperServers {
	return &paperServers{
		t: t, path: filepath.Join(t.TempDir(), "state.bolt"),
		asked: map[string]int{}, host: map[string]func(question) reply{},
	}
}

// links is a page that links to paths.
func links(to ...string) reply {
	var b strings.Builder
	for _, u := range to {
		fmt.Fprintf(&b, "<a href=%q>x</a>", u)
	}
	return reply{status: http.StatusOK, body: b.String()}
}

// pages answers with a page per path and 404 for the rest.
func pages(of map[string]reply) func(question) reply {
	return func(q question) reply {
		if r, ok := of[q.path]; ok {
			return r
		}
		return reply{status: http.StatusNotFound}
	}
}

// paths returns n paths: "/1", "/2"...
func paths(n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("/%d", i+1)
	}
	return all
}

// site answers / with links to n pages, those pages, and robots.txt with the text.
func site(robots string, n int) func(question) reply {
	return func(q question) reply {
		switch {
		case q.path == "/robots.txt" && robots != "":
			return reply{status: http.StatusOK, body: robots}
		case q.path == "/robots.txt", strings.HasPrefix(q.path, "/sitemap"):
			return reply{status: http.StatusNotFound}
		case q.path == "/":
			return links(paths(n)...)
		}
		return reply{status: http.StatusOK, body: "<title>x</title>"}
	}
}

func (s *paperServers) answer(p *parser, step ring.Step) ring.Outcome {
	switch step.Kind {
	case ring.Resolve:
		return s.lookUp(step)
	case ring.Render:
		return s.show(p, step)
	}
	host := weburl.Host(step.URL)
	q := question{host: host, method: step.Kind.Method(), path: weburl.PathQuery(step.URL), step: step}
	entry := webtest.Entry{Host: host, Method: q.method, Path: q.path, Arrived: time.Now()}
	s.mu.Lock()
	q.n = s.asked[host+q.path]
	s.asked[host+q.path]++
	f := s.host[strings.TrimPrefix(host, "www.")]
	if f == nil {
		f = s.other
	}
	s.mu.Unlock()
	r := reply{status: http.StatusNotFound}
	if f != nil {
		r = f(q)
	}
	o := s.play(p, step, r, &entry)
	s.mu.Lock()
	s.log = append(s.log, entry)
	s.mu.Unlock()
	return o
}

func (s *paperServers) lookUp(step ring.Step) ring.Outcome {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := ring.Outcome{Step: step, RetryAfter: -1, Length: -1, FirstByte: time.Now(), Done: time.Now()}
	if s.lookedUp = append(s.lookedUp, o.Done); len(s.lookedUp) <= s.deaf {
		o.Cause, o.Uncounted = fetch.Cancelled, true
	} else {
		o.Address = s.address
	}
	return o
}

func (s *paperServers) play(p *parser, step ring.Step, r reply, entry *webtest.Entry) ring.Outcome {
	o := ring.Outcome{Step: step, RetryAfter: -1, Length: -1}
	time.Sleep(r.wait)
	first := time.Now()
	time.Sleep(r.last)
	entry.Done = time.Now()
	if r.cause != fetch.None {
		fail(&o, &fetch.Error{Cause: r.cause, Op: "connect", URL: step.URL, Err: errors.New("as told")})
		o.FirstByte, o.Done = entry.Done, entry.Done
		return o
	}
	entry.FirstByte, entry.Status = first, r.status
	header := r.header
	if header == nil {
		header = http.Header{"Content-Type": {"text/html; charset=utf-8"}}
	}
	resp := &fetch.Response{Status: r.status, Header: header, FirstByte: first, Done: entry.Done, Body: []byte(r.body),
		Size: int64(len(r.body))}
	answer(&o, resp)
	o.Address = s.address
	p.read(&o, resp)
	p.park(&o, resp)
	if err := new(parser).seal(&o, resp, nil); err != nil {
		s.t.Error(err)
	}
	return o
}

// crawl walks to the end, or until a time of the bubble: then everything that is not committed is
// lost, as by a kill.
func (s *paperServers) crawl(text string, kill time.Duration) schema.Run {
	s.t.Helper()
	s.text = text
	return s.crawlWith(crawltest.Parse(s.t, text), kill)
}

// crawlWith is crawl under a configuration that is already parsed.
func (s *paperServers) crawlWith(cfg *config.Config, kill time.Duration) schema.Run {
	s.t.Helper()
	set, err := ring.NewSettings(cfg)
	if err != nil {
		s.t.Fatal(err)
	}
	if s.browser != nil {
		set.Renderer, set.Seats = s.browser, semaphore.NewWeighted(int64(cfg.Render.Browsers()))
		set.Answers = answers.New(s.t.TempDir(), cmp.Or(s.room, answers.MaxBytes))
	}
	defer set.Close()
	store, err := kv.Open(s.path, kv.Options{})
	if err != nil {
		s.t.Fatal(err)
	}
	defer store.Close()
	asked := 0
	rec := newCommitter(store, set, slog.New(slog.NewTextHandler(io.Discard, nil)), func(e Event) {
		if e.Asked {
			asked++
		}
	})
	if s.most > 0 {
		rec.most = s.most
	}
	if _, err := rec.recorder.Begin(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	if err := continueAnswers(set, s.path, rec.recorder.Run()); err != nil {
		s.t.Fatal(err)
	}
	before := rec.recorder.Run().Pages
	err = s.ring(rec, kill)
	if run := rec.recorder.Run(); kill == 0 && asked != run.Pages-before {
		s.t.Errorf("%d pages are told as asked for, the run counts %d", asked, run.Pages-before)
	}
	switch {
	case err == nil:
		if err = rec.recorder.Finish(); err == nil && set.Answers != nil {
			err = set.Answers.Forget()
		}
	case kill > 0 && errors.Is(err, context.DeadlineExceeded):
		err = nil
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return rec.recorder.Run()
}

// ring is [Crawl.walk] with paper servers in place of visitors.
func (s *paperServers) ring(rec *committer, kill time.Duration) error {
	cfg := rec.set.Config
	how := schedulerConfig{
		Slots: cfg.MaxOpen(), AddressGap: cfg.Politeness.MinimumTimePerAddress,
		MaxUncommitted: maxUncommitted(cfg.MaxOpen()),
	}
	if s.shared != nil {
		how.Network = &s.shared.network
	}
	sched := newScheduler(how)
	if err := rec.recorder.EachWaiting(sched.apply); err != nil {
		return err
	}
	steps, outcomes := make(chan ring.Step), make(chan ring.Outcome, 64)
	effects, wakes := make(chan ring.Effects), make(chan ring.Wake)
	ctx, cancel := context.Background(), func() {}
	if kill > 0 {
		ctx, cancel = context.WithTimeout(ctx, kill)
	}
	defer cancel()
	g, walking := errgroup.WithContext(ctx)
	g.Go(func() error { return sched.run(walking, steps, effects, wakes, nil) })
	judged := outcomes
	if s.shared != nil {
		judged = make(chan ring.Outcome, 64)
		w := &attribution{shared: s.shared, crawl: 1, log: slog.New(slog.DiscardHandler), out: judged}
		g.Go(func() error { return w.run(walking, outcomes) })
	}
	g.Go(func() error { return rec.loop(walking, judged, wakes, nil, effects) })
	g.Go(func() error { return s.visitors(walking, rec, sched.share, steps, outcomes) })
	if err := g.Wait(); err != nil {
		return err
	}
	return context.Cause(ctx)
}

func (s *paperServers) visitors(walking context.Context, rec *committer, share *slots.Share, steps <-chan ring.Step,
	outcomes chan<- ring.Outcome) error {
	defer close(outcomes)
	var g errgroup.Group
	for range rec.set.Config.MaxOpen() {
		p := &parser{hash: rec.store.Hash}
		g.Go(func() error {
			for step := range steps {
				select {
				case outcomes <- s.answer(p, step):
				case <-walking.Done():
					return walking.Err()
				}
				share.Give(step.Standing)
			}
			return nil
		})
	}
	return g.Wait()
}

// arrivals returns the times of the requests to a host, in seconds since the first.
func (s *paperServers) arrivals(host string) []float64 {
	var at []float64
	var first time.Time
	for _, e := range s.log {
		if e.Host != host {
			continue
		}
		if first.IsZero() {
			first = e.Arrived
		}
		at = append(at, e.Arrived.Sub(first).Seconds())
	}
	return at
}

// requests returns the requests to a host, as "GET /path".
func (s *paperServers) requests(host string) []string {
	var all []string
	for _, e := range s.log {
		if e.Host == host {
			all = append(all, e.Method+" "+e.Path)
		}
	}
	return all
}

// view reads the store after a crawl.
func (s *paperServers) view(f func(*kv.Store, *kv.Tx) error) {
	s.t.Helper()
	crawltest.View(s.t, s.path, f)
}

// hostRecord returns the durable record of a host.
func (s *paperServers) hostRecord(name string) schema.Host {
	s.t.Helper()
	var h schema.Host
	s.view(func(_ *kv.Store, tx *kv.Tx) error {
		id, ok, err := tx.Hosts.Lookup(name)
		if err != nil || !ok {
			return fmt.Errorf("host %s: %v %w", name, ok, err)
		}
		found, err := tx.Hosts.At(id)
		if err == nil {
			h = *found
		}
		return err
	})
	return h
}

// visits returns the newest visits of pages and sitemaps, by URL.
func (s *paperServers) visits() map[string]schema.Visit {
	s.t.Helper()
	all := map[string]schema.Visit{}
	s.view(func(_ *kv.Store, tx *kv.Tx) error {
		return tx.Visits.Each(1, func(v *schema.Visit) (bool, error) {
			norm, err := tx.URLs.Norm(v.URL)
			all[norm] = *v
			return true, err
		})
	})
	return all
}

// cap returns how often a rule's group was counted.
func (s *paperServers) cap(rule, group string) (n int) {
	s.t.Helper()
	s.view(func(_ *kv.Store, tx *kv.Tx) (err error) {
		n, err = tx.Runs.Count(rule, group)
		return err
	})
	return n
}
