package crawl

import (
	"context"
	"io"
	"log/slog"
	"time"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

// reasonReclassified is why a run is not completed any more whose terrain has
// become larger.
const reasonReclassified = "reclassified"

// Reclassify applies a changed configuration to what is known, without asking a
// server (SPEC 9): classes, depths and what waits follow from the recorded links,
// as when a crawl goes on under it. The last run then bears the new text. If it
// was completed it stays so, unless pages have come within its reach; the next
// crawl goes on with those.
//
// It is idempotent; killed on the way, it is repeated by the next one or by the
// next crawl. A store without a run is an error, see [survey.ErrNoRun].
func Reclassify(store *kv.Store, cfg *config.Config) (schema.Run, error) {
	before, err := lastRun(store)
	if err != nil {
		return before, err
	}
	set, err := newSettings(cfg)
	if err != nil {
		return before, err
	}
	defer set.client.Close()
	r := newRecorder(store, set, slog.New(slog.NewTextHandler(io.Discard, nil)), nil)
	r.reclassify = true
	if _, err := r.begin(context.Background()); err != nil {
		return before, err
	}
	waits, err := r.waits()
	if err != nil {
		return before, err
	}
	run := r.run
	run.Running = before.Running
	switch {
	case before.Status != schema.RunCompleted:
		run.Status, run.Walked, run.Reason = schema.RunInterrupted, false, before.Reason
		run.Finished = before.Finished
	case waits:
		run.Status, run.Walked, run.Reason = schema.RunInterrupted, false, reasonReclassified
		run.Finished = time.Now().Truncate(time.Second)
	default:
		run.Status, run.Walked, run.Reason, run.Finished = before.Status, before.Walked, before.Reason, before.Finished
	}
	return run, store.Update(func(tx *kv.Tx) error { return tx.PutRun(run) })
}

func lastRun(store *kv.Store) (run schema.Run, err error) {
	err = store.View(func(tx *kv.Tx) error {
		runs, err := tx.Runs()
		if err == nil && len(runs) == 0 {
			err = survey.ErrNoRun
		}
		if err == nil {
			run = runs[len(runs)-1]
		}
		return err
	})
	return run, err
}

// waits reports whether the run has anything left to ask.
func (r *recorder) waits() (bool, error) {
	if limit := r.set.cfg.Crawler.MaxPages; limit > 0 && r.run.Pages >= limit {
		return false, nil
	}
	s, err := survey.New(r.store)
	if err != nil {
		return false, err
	}
	counts, err := s.Counts()
	if err != nil || counts.ByState[schema.Queued] > 0 {
		return err == nil, err
	}
	return r.sitemapsWait()
}

// sitemapsWait reports whether sitemap files are queued at hosts that are asked.
func (r *recorder) sitemapsWait() (found bool, err error) {
	err = r.store.View(func(tx *kv.Tx) error {
		return tx.EachHost(1, func(h *schema.Host) (bool, error) {
			if h.Waiting == 0 || h.Run == r.run.ID && h.RunGivenUp != schema.NotGivenUp {
				return true, nil
			}
			err := tx.Walk(h, func(_ uint8, id schema.ID) bool {
				found = r.store.Kind(id) == schema.KindSitemap && r.store.Latest(id) < r.run.FirstVisit
				return !found
			})
			return !found, err
		})
	})
	return found, err
}
