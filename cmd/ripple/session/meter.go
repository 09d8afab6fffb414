package session

import (
	"context"
	"errors"
	"net/http"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/meter"
	"github.com/sumi-ripple/ripple/schema"
)

// NewMeter returns the metrics of this process.
func NewMeter() *meter.Meter {
	b := term.ThisBuild()
	return meter.New(meter.Build{Version: b.Version, Commit: b.Commit, Go: b.Go})
}

// moment is what a scrape reads.
func (w *Walk) moment(ctx context.Context) meter.Moment {
	if !w.Writing.Load() {
		w.Watcher.Refresh(ctx)
	}
	return meter.Moment{Status: w.status(), State: w.Store.Size()}
}

// recall counts what the run had visited before this process, beside the walk.
func (w *Walk) recall(g *errgroup.Group, run schema.Run, last schema.Seq) {
	g.Go(func() error {
		err := w.shown.Recall(w.Crawl.View, run.FirstVisit, last)
		if errors.Is(err, crawl.ErrEnded) {
			return nil
		}
		return err
	})
}

// Metrics answers a scrape of Prometheus.
func (c *commanded) Metrics(w http.ResponseWriter, r *http.Request) {
	if err := c.begun(r.Context()); err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	c.walk.meter.Handler().ServeHTTP(w, r)
}
