package census

import (
	"time"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

// Young counts the pages that a new run keeps for the sake of their last final answer: those that are younger than
// min-age, and older ones that were answered as fresh for longer. It reads no visit that is much older.
func Young(store *kv.Store, recrawl config.Recrawl) (young, fresh int, err error) {
	oldest := recrawl.Oldest()
	if oldest <= 0 {
		return 0, 0, nil
	}
	now := time.Now()
	err = store.View(func(tx *kv.Tx) error {
		from, err := firstSince(tx, store.LastSeq(), now.Add(-oldest))
		if err != nil {
			return err
		}
		return tx.Visits.Each(from, func(v *schema.Visit) (bool, error) {
			// A clock that was wrong makes the age negative.
			age := now.Sub(v.At)
			switch {
			case !recrawl.Young(age, v.Fresh) || !v.Final() || store.Kind(v.URL) != schema.KindPage ||
				store.Asked(v.URL) != v.Seq:
			case recrawl.Young(age, 0):
				young++
			default:
				fresh++
			}
			return true, nil
		})
	})
	return young, fresh, err
}

// firstSince finds approximately the first visit after a time. Visits with requests are recorded nearly in
// order of their times; kept visits come later than the visits they repeat.
func firstSince(tx *kv.Tx, last schema.Seq, since time.Time) (schema.Seq, error) {
	var v schema.Visit
	lo, hi := schema.Seq(1), last+1
	for lo < hi {
		mid := (lo + hi) / 2
		asked := mid // the first visit from there on that made a request
		for v.Kept = true; asked < hi; asked++ {
			if err := tx.Visits.SkimAt(asked, &v); err != nil {
				return 0, err
			}
			if !v.Kept {
				break
			}
		}
		if !v.Kept && v.At.Before(since) {
			lo = asked + 1
		} else {
			hi = mid
		}
	}
	return lo, nil
}
