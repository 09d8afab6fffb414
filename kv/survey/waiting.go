package survey

import (
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

// WaitingPages counts the pages of a host that wait for a run and that it has not visited. Some
// pages are in its queues twice, and some pages that wait for a retry have lost their depth under
// another configuration.
func WaitingPages(store *kv.Store, tx *kv.Tx, run *schema.Run, h *schema.Host) (int, error) {
	var failed error
	later := sync.OnceValue(func() (had bool) {
		had, failed = hadEarlier(store, tx, run)
		return had
	})
	pages := map[schema.ID]bool{}
	add := func(_ uint8, id schema.ID) bool {
		depth, _ := store.Depth(id)
		seq := store.Asked(id)
		reached := depth != kv.NoDepth || seq == 0 && later() // or an earlier run has left it
		if reached && store.Kind(id) == schema.KindPage && (seq == 0 || seq < run.FirstVisit) {
			pages[id] = true
		}
		return true
	}
	if h.Run == run.ID { // otherwise they belong to an older run
		for _, r := range h.Retries {
			add(0, r.URL)
		}
	}
	err := tx.Frontier.Walk(h, add)
	return len(pages), errors.Join(err, failed)
}

// hadEarlier reports whether there was another run when a run began. An import may have joined it later, and the first
// runs may have been pruned.
func hadEarlier(store *kv.Store, tx *kv.Tx, run *schema.Run) (bool, error) {
	if run.ID == 1 || len(store.Imports()) == 0 {
		return run.ID > 1, nil
	}
	runs, err := tx.Runs.All()
	if err != nil {
		return false, err
	}
	return runs[0].ID > 1 || slices.ContainsFunc(runs, func(r schema.Run) bool { return run.Knew(&r) }), nil
}

// RunErrors returns the errors of a run by kind, including pages that got no visit because their
// host could not be reached. It equals the errors of [Counts], except for redirects that lead
// nowhere, which would need a pass over all pages.
func RunErrors(store *kv.Store, tx *kv.Tx, cfg *config.Config, run *schema.Run) (map[string]int, error) {
	all := map[string]int{}
	maps.Copy(all, run.Errors)
	err := tx.Hosts.Each(1, func(h *schema.Host) (bool, error) {
		cause := h.OutOfReach(run.ID)
		if cause == schema.CauseNone || cfg.UsedUp(h, 0) {
			return true, nil
		}
		pages, err := WaitingPages(store, tx, run, h)
		if pages > 0 {
			all[cause.ErrorKind()] += pages
		}
		return true, err
	})
	return all, err
}
