package node_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/sumi-ripple/ripple/schema"
)

// Nodes together visit exactly max-pages pages, even if a node is stopped and the hub loses everything meanwhile.
func TestMaxPages(t *testing.T) {
	t.Parallel()
	cfg := web(t, 10)
	cfg.Crawler.MaxPages, cfg.Crawler.MinimumTimeOnPage = 60, pace
	tr := newTerrain(t, cfg, 2, 4)
	ended := make(chan error)
	go func() { ended <- tr.run(t.Context(), 0, cfg) }()
	ctx, cancel := context.WithCancel(t.Context())
	second := make(chan error)
	go func() { second <- tr.run(ctx, 1, cfg) }()
	for tr.requests() < 10 {
		if err := sleep(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	if err := <-second; !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	tr.lose()
	go func() { ended <- tr.run(t.Context(), 1, cfg) }()
	for range 2 {
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), "merged.bolt")
	tr.mergeInto(path)
	run := tr.lastRun(path)
	if run.Pages != 60 || run.End.Kind != schema.EndMaxPages || run.Status != schema.RunCompleted {
		t.Errorf("the run ends as %+v, want 60 pages", run)
	}
}

func TestMaxPagesIsEnough(t *testing.T) {
	t.Parallel()
	cfg := web(t, 11)
	cfg.Crawler.MaxPages = 5000
	tr := newTerrain(t, cfg, 2, 3)
	for run := 1; run <= 2; run++ {
		tr.all()
		if got, want := tr.merged(), alone(t, cfg, run); got != want {
			t.Errorf("run %d: digest %s, want %s", run, got, want)
		}
	}
}

// If max-pages changes during a run, the portions given out before are counted again.
func TestMaxPagesChanges(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ from, to int }{{50, 0}, {50, 5000}, {0, 60}, {5000, 60}} {
		t.Run(fmt.Sprintf("from %d to %d", tt.from, tt.to), func(t *testing.T) {
			t.Parallel()
			for range 10 {
				if changesMaxPages(t, tt.from, tt.to) {
					return
				}
			}
			t.Error("it has always changed too late")
		})
	}
}

// changesMaxPages reports whether the change came in time: a busy machine may already have visited that many
// pages.
func changesMaxPages(t *testing.T, from, to int) (inTime bool) {
	cfg := web(t, 12)
	cfg.Crawler.MinimumTimeOnPage = pace
	next := *cfg
	cfg.Crawler.MaxPages, next.Crawler.MaxPages = from, to
	tr := newTerrain(t, cfg, 2, 3)
	conn := tr.connect()
	ended := make(chan error, 2)
	for n := range tr.folders {
		go func() { ended <- tr.run(t.Context(), n, cfg) }()
	}
	for tr.requests() < 10 {
		if err := sleep(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for n := range tr.folders {
		tr.write(n, &next)
	}
	if _, err := tr.reload(conn, &next); err != nil {
		t.Fatal(err)
	}
	inTime = tr.requests() < 50
	for range tr.folders {
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), "merged.bolt")
	got := tr.mergeInto(path)
	switch {
	case !inTime:
	case to == 60:
		if run := tr.lastRun(path); run.Pages != 60 || run.End.Kind != schema.EndMaxPages {
			t.Errorf("the run ends as %+v, want 60 pages", run)
		}
	default:
		if want := alone(t, &next, 1); got != want {
			t.Errorf("digest %s, want %s", got, want)
		}
	}
	return inTime
}

func (tr *terrain) lastRun(path string) (run schema.Run) {
	tr.t.Helper()
	tr.read(path, func(runs []schema.Run) { run = runs[len(runs)-1] })
	return run
}
