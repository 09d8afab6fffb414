package node_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/cluster/hub"
	"github.com/sumi-ripple/ripple/crawl/cluster/node"
	"github.com/sumi-ripple/ripple/schema/config"
)

// write changes the configuration file of a node.
func (tr *terrain) write(n int, cfg *config.Config) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	if tr.later == nil {
		tr.later = map[int]*config.Config{}
	}
	tr.later[n] = cfg
}

// reload makes the terrain follow another configuration, and returns its number.
func (tr *terrain) reload(conn *hub.Conn, cfg *config.Config) (number uint64, err error) {
	err = patient(func() (err error) { _, number, _, err = node.Reload(tr.t.Context(), conn, cfg); return err })
	return number, err
}

// Each node follows another configuration once its file agrees, even if the hub has lost it meanwhile.
func TestReload(t *testing.T) {
	t.Parallel()
	cfg := web(t, 8)
	deeper := *cfg
	cfg.Crawler.MaxDepth, cfg.Crawler.MinimumTimeOnPage = 1, 2*pace
	deeper.Crawler.MinimumTimeOnPage = pace
	tr := newTerrain(t, cfg, 2, 3)
	tr.even()
	conn := tr.connect()
	ended := make(chan error, 2)
	for n := range 2 {
		go func() { ended <- tr.run(t.Context(), n, cfg) }()
	}
	for tr.requests() < 5 {
		if err := sleep(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	apart := deeper
	apart.URL.StripParams = []string{"x"}
	if _, err := tr.reload(conn, &apart); !errors.Is(err, crawl.ErrIdentity) {
		t.Errorf("what keeps pages apart: %v", err)
	}
	tr.write(0, &deeper)
	for range 2 { // the second call changes nothing
		if number, err := tr.reload(conn, &deeper); err != nil || number != 2 {
			t.Errorf("configuration %d: %v", number, err)
		}
	}
	tr.until("who follows it", conn, func(s node.Shard) bool { return s.Report != nil && s.Report.Configuration == 2 })
	tr.lose()
	tr.until("who does not", conn, func(s node.Shard) bool { return s.Report != nil && s.Report.Configuration == 1 })
	tr.write(1, &deeper)
	for range 2 {
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
	}
	if got, want := tr.merged(), alone(t, &deeper, 1); got != want {
		t.Errorf("digest %s, want %s", got, want)
	}
	if _, err := tr.reload(conn, cfg); !errors.Is(err, node.ErrOver) {
		t.Errorf("when the run is over: %v", err)
	}
}

// A hearing handler also passes every message to a function.
type hearing struct {
	slog.Handler
	heard func(text string)
}

func (h hearing) WithAttrs(attrs []slog.Attr) slog.Handler {
	return hearing{h.Handler.WithAttrs(attrs), h.heard}
}

func (h hearing) Handle(ctx context.Context, r slog.Record) error {
	text := r.Message
	r.Attrs(func(a slog.Attr) bool { text += " " + a.String(); return true })
	h.heard(text)
	return h.Handler.Handle(ctx, r)
}

// A run does not end under a configuration that was replaced, however long the file of a machine takes to agree.
func TestReloadKeepsTheRunOpen(t *testing.T) {
	t.Parallel()
	tr := slow(t, 8, 1, 2)
	deeper := *tr.cfg
	tr.cfg.Crawler.MaxDepth = 1
	open := make(chan struct{})
	said := sync.OnceFunc(func() { close(open) })
	tr.options.Log = slog.New(hearing{tr.options.Log.Handler(), func(text string) {
		if strings.Contains(text, "not over yet") && strings.Contains(text, "configuration 2 of run 1") {
			said()
		}
	}})
	_, ended := tr.start(0)
	tr.works(3)
	conn := tr.connect()
	if number, err := tr.reload(conn, &deeper); err != nil || number != 2 {
		t.Fatal(number, err)
	}
	select {
	case <-open:
	case err := <-ended:
		t.Fatalf("the run is over: %v", err)
	}
	tr.write(0, &deeper)
	tr.ends(ended)
	tr.cfg = &deeper
	tr.same(1)
}
