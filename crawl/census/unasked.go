package census

import (
	"maps"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// An unasked is the number of pages of a host that got no visit because the host was given up, computed when
// waiting URLs were waiting.
type unasked struct{ waiting, pages int }

// addUnasked counts the pages of a host that was given up. Those of an unreachable host also count as errors,
// as they do for a file, see [survey.Counts].
func (w *Watcher) addUnasked(store *kv.Store, tx *kv.Tx, h *schema.Host) error {
	state, cause, waiting := givenUpAs(h), h.OutOfReach(w.run.ID), h.Waiting+len(h.Retries)
	if h.Run != w.run.ID || state == schema.Queued || w.pace.cfg.UsedUp(h, 0) {
		return nil
	}
	u := w.given[h.ID]
	if u.waiting != waiting {
		pages, err := survey.WaitingPages(store, tx, &w.run, h)
		if err != nil {
			return err
		}
		u = unasked{waiting, pages}
		w.given[h.ID] = u
	}
	if u.pages == 0 {
		return nil
	}
	if w.round.unasked == nil {
		w.round.unasked, w.round.lost = map[string]int{}, map[schema.State]int{}
	}
	w.round.lost[state] += u.pages
	if cause != schema.CauseNone {
		w.round.unasked[cause.ErrorKind()] += u.pages
	}
	return nil
}

// givenUpAs returns the state of the waiting pages of a host that its run has given up; queued: it has not.
func givenUpAs(h *schema.Host) schema.State {
	switch h.RunGivenUp {
	case schema.GaveUpConnection:
		return schema.Unreachable
	case schema.GaveUpRateLimit, schema.GaveUpCrawlDelay:
		return schema.RateLimited
	case schema.GaveUpRobots, schema.GaveUpWall, schema.GaveUpPayment:
		return schema.Failed
	}
	return schema.Queued
}

// errors returns the errors of the run, including pages that got no visit.
func (w *Watcher) errors() map[string]int {
	all := map[string]int{}
	maps.Copy(all, w.run.Errors)
	for kind, n := range w.last.unasked {
		all[kind] += n
	}
	return all
}
