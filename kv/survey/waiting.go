package survey

import (
	"maps"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

// WaitingPages counts the pages of a host that wait for a run and that it has not visited. Some
// pages are in its queues twice, and some pages that wait for a retry have lost their depth under
// another configuration.
func WaitingPages(store *kv.Store, tx *kv.Tx, run *schema.Run, h *schema.Host) (int, error) {
	pages := map[schema.ID]bool{}
	add := func(_ uint8, id schema.ID) bool {
		depth, _ := store.Depth(id)
		seq := store.Asked(id)
		reached := depth != kv.NoDepth || seq == 0 && run.ID > 1 // or an earlier run has left it
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
	return len(pages), err
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
