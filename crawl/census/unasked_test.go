package census

import (
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

// A live crawl counts its errors as the file does. Pages that got no visit because their host was unreachable
// are included once each, with the last cause.
func TestErrorsOfALiveCrawl(t *testing.T) {
	gaveUp := func(how schema.GiveUp, why schema.Reason) func(*schema.Host) {
		return func(h *schema.Host) { h.RunGivenUp, h.RunGivenUpWhy = how, why }
	}
	const connection = schema.GaveUpConnection
	refused := schema.Reason{Cause: schema.CauseConnections, Detail: schema.CauseRefused.String()}
	tests := []struct {
		name string
		host func(*schema.Host)
		kind string
	}{
		{"at once", gaveUp(connection, schema.Reason{Cause: schema.CauseRefused}), schema.ErrorRefused},
		{"the last of three", gaveUp(connection, refused), schema.ErrorRefused},
		{"its robots.txt", func(h *schema.Host) {
			gaveUp(schema.GaveUpRobots, schema.Reason{Cause: schema.CauseRobots})(h)
			h.RobotsTries, h.RobotsReason.Cause = 4, schema.CauseTimeout
		}, schema.ErrorTimeout},
		{"it asks for rest", gaveUp(schema.GaveUpRateLimit, schema.Reason{Cause: schema.CauseRateLimits}), ""},
		{"its budget", func(h *schema.Host) { gaveUp(connection, refused)(h); h.RunRequests = 9999 }, ""},
		{"it waits", func(*schema.Host) {}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := surveytest.New(t, surveytest.Minimal)
			w.Visit("a.test/", w.Links("b.test/1", "b.test/2", "b.test/3", "b.test/4"))
			w.Visit("b.test/1", nil)
			for _, page := range []string{"b.test/2", "b.test/3", "b.test/4"} {
				w.Depth(page, 1, 0)
			}
			for _, page := range []string{"b.test/1", "b.test/2", "b.test/3", "b.test/2"} {
				w.Push(page)
			}
			w.Host("b.test/1", func(h *schema.Host) {
				h.Retries = []schema.Retry{{URL: w.Page("b.test/4"), Attempts: 1}}
				tt.host(h)
			})
			w.Change(func(r *schema.Run) { r.Errors = map[string]int{schema.ErrorDeadLink: 2} })
			want := map[string]int{schema.ErrorDeadLink: 2}
			if tt.kind != "" {
				want[tt.kind] = 3
			}
			counts, err := w.Survey().Counts()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, counts.Errors); diff != "" {
				t.Errorf("of the file (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(want, liveErrors(t, w)); diff != "" {
				t.Errorf("of the crawl (-want +got):\n%s", diff)
			}
		})
	}
}

// liveErrors returns the errors that a watcher counts after two looks.
func liveErrors(t *testing.T, w *surveytest.World) map[string]int {
	t.Helper()
	var cfg atomic.Pointer[config.Config]
	cfg.Store(w.Config)
	watcher := NewWatcher(nil, &cfg, w.Run)
	for range 2 {
		if err := w.Store.View(func(tx *kv.Tx) error { return watcher.countHosts(w.Store, tx, nil) }); err != nil {
			t.Fatal(err)
		}
	}
	return watcher.errors()
}
