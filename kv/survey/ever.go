package survey

import (
	"iter"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// A seenLink is a link with the runs that saw it.
type seenLink struct {
	schema.Link
	first, last schema.RunID
}

// eachEver calls f for the links of pages that any run saw, including those that are no longer current:
// each as the last run that saw it did, with the first and the last of these runs.
func (ls *Links) eachEver(pages iter.Seq[schema.ID], f LinkFunc) error {
	return ls.core.view(func(tx *kv.Tx) error {
		for id := range pages {
			if err := ls.everOn(tx, id, f); err != nil {
				return err
			}
		}
		return nil
	})
}

// everOn calls f for the links of a page; for a URL that is not a page it does nothing.
func (ls *Links) everOn(tx *kv.Tx, id schema.ID, f LinkFunc) error {
	if !ls.core.isPage(id) {
		return nil
	}
	all, err := ls.ever(tx, id)
	if err != nil {
		return err
	}
	for _, l := range all {
		if err := f(id, l.Link, ls.core.unpruned(l.first), ls.core.unpruned(l.last)); err != nil {
			return err
		}
	}
	return nil
}

// ever returns the links of all visits of a page, by target.
func (ls *Links) ever(tx *kv.Tx, id schema.ID) (all []seenLink, err error) {
	for seq := ls.core.latest(id); seq != 0; {
		v, err := tx.Visits.At(seq)
		if err != nil {
			return nil, err
		}
		run, prev := v.Run, v.Prev
		if v.URL == id && v.Stand != 0 {
			if v, err = tx.Visits.At(v.Stand); err != nil {
				return nil, err
			}
		}
		if v.URL != id {
			return nil, kv.OfAnother(v.Seq, id)
		}
		if err := ls.stands.knows(id, v.Links); err != nil {
			return nil, err
		}
		if err := tx.Visits.Anchors(v); err != nil {
			return nil, err
		}
		all, seq = withOlder(all, v.Links, run), prev
	}
	return all, nil
}

// withOlder adds the links of an older visit in a run to links, by target.
func withOlder(all []seenLink, older []schema.Link, run schema.RunID) []seenLink {
	merged := make([]seenLink, 0, max(len(all), len(older)))
	for _, l := range older {
		for len(all) > 0 && all[0].To < l.To {
			merged, all = append(merged, all[0]), all[1:]
		}
		if len(all) > 0 && all[0].To == l.To {
			one := all[0]
			one.first = min(one.first, run)
			merged, all = append(merged, one), all[1:]
			continue
		}
		merged = append(merged, seenLink{l, run, run})
	}
	return append(merged, all...)
}
