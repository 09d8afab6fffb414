package meter

import (
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// atOnce is the number of visits read per transaction, which takes a few ms.
const atOnce = 1000

// Recall counts the pages that a run visited before this process started: those of the visits from first, the
// run's first, to last. view is the View of a crawl or a store.
func (c *Collector) Recall(view func(func(*kv.Tx) error) error, first, last schema.Seq) error {
	for next := max(first, 1); next <= last; next += atOnce {
		err := view(func(tx *kv.Tx) error {
			return tx.Visits.Each(next, func(v *schema.Visit) (bool, error) {
				if v.Seq > last || v.Seq >= next+atOnce {
					return false, nil
				}
				return true, c.recall(tx, v, first)
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *Collector) recall(tx *kv.Tx, v *schema.Visit, first schema.Seq) error {
	u, err := tx.URLs.At(v.URL)
	if err != nil || u.Kind != schema.KindPage {
		return err
	}
	c.pages[v.State].Add(1)
	if v.Prev < first || v.Prev == 0 {
		return nil
	}
	before, err := tx.Visits.At(v.Prev)
	if err == nil {
		c.pages[before.State].Add(-1)
	}
	return err
}
