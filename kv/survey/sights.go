package survey

import (
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// sights knows the last run that saw each page, and so which pages are gone.
type sights struct {
	core    *core
	left    *bitset        // pages that wait and that the newest run has not reached; nil: not read yet
	ownLeft *bitset        // of left: those that their own host names
	last    []schema.RunID // by id, outside the run: the last run in which a page linked there; nil: not read yet
}

// gone reports whether neither the last completed run nor a later one has met a page. left says
// that it still waits, and first is the first run that met it.
func (st *sights) gone(id schema.ID, left bool, first schema.RunID) (bool, error) {
	since := st.core.since()
	found := st.core.countsAt(first) && since <= max(first, st.core.firstCounted())
	seen := found || !st.core.outside(id) || st.core.visitedSince(id)
	if seen || left || st.core.ever {
		return false, nil
	}
	err := st.read()
	return err == nil && st.last[id] < max(1, since), err
}

// unmet reports whether no run that counts has met a page: only archives, or for an archive only what is not in it.
func (st *sights) unmet(tx *kv.Tx, id schema.ID) (bool, error) {
	if len(st.core.store.Imports()) == 0 || st.core.ever || !st.core.outside(id) || st.core.latest(id) != 0 {
		return false, nil
	}
	u, err := tx.URLs.At(id)
	if err != nil || st.core.countsAt(u.FirstRun) {
		return false, err
	}
	if left, err := st.waits(tx, id); left || err != nil {
		return false, err
	}
	err = st.read()
	return err == nil && st.last[id] == 0, err
}

// lastRun returns the last run that saw a page: that reached it, visited it, or saw a link to it.
func (st *sights) lastRun(p *Page) (schema.RunID, error) {
	if len(st.core.runs) == 1 || p.InRun || p.Visited {
		return st.core.run.ID, nil
	}
	last := p.FirstRun
	if p.Visit != nil {
		last = max(last, p.Visit.Run)
	}
	if err := st.read(); err != nil {
		return 0, err
	}
	return max(last, st.last[p.ID]), nil
}

// read records for every URL outside the run the last run in which a page linked to it or a sitemap
// named it; 0: no run after the first.
func (st *sights) read() error {
	if st.last != nil {
		return nil
	}
	stood, err := st.readStood()
	if err != nil {
		return err
	}
	second := st.core.secondRun()
	if len(st.core.store.Imports()) > 0 {
		second = 1
	}
	sights, asked := make([]schema.RunID, st.core.store.URLs()+1), newBitset(st.core.store.URLs())
	for id := schema.ID(1); int(id) <= st.core.urls(); id++ {
		if st.core.outside(id) {
			asked.set(int(id))
		}
	}
	see := func(id schema.ID, run schema.RunID) {
		if asked.has(int(id)) {
			sights[id] = max(sights[id], run)
		}
	}
	later := func(seq schema.Seq, _ schema.ID) bool { return seq >= second || stood[seq] > st.core.runs[0].ID }
	err = st.core.view(func(tx *kv.Tx) error {
		return tx.Visits.EachTargets(1, later, func(l *kv.Targeted) error {
			if !st.core.countsAt(l.Run) {
				return nil
			}
			for _, to := range l.To {
				see(to, max(l.Run, stood[l.Seq]))
			}
			if st.core.store.Kind(l.URL) != schema.KindSitemap {
				return st.core.live()
			}
			v, err := tx.Visits.At(l.Seq)
			if err != nil {
				return err
			}
			for _, e := range v.Sitemap {
				see(e.To, l.Run)
			}
			return nil
		})
	})
	if err == nil {
		st.last = sights
	}
	return err
}

// readStood returns for every visit the last run in which its links were the current ones of a
// later visit; 0: none. Visits of the first run are not included.
func (st *sights) readStood() ([]schema.RunID, error) {
	stood := make([]schema.RunID, st.core.store.LastSeq()+1)
	every := func(schema.Seq, schema.ID) bool { return true }
	err := st.core.view(func(tx *kv.Tx) error {
		return tx.Visits.EachTargets(st.core.secondRun(), every, func(l *kv.Targeted) error {
			if l.Run <= st.core.run.ID {
				stood[l.Stand] = max(stood[l.Stand], l.Run)
			}
			return st.core.live()
		})
	})
	return stood, err
}

// waits reports whether an earlier run left a page waiting that the run has not reached yet: it is
// in a line, or waits for a retry, without a depth. For an older run that is no longer known.
func (st *sights) waits(tx *kv.Tx, id schema.ID) (bool, error) {
	if st.core.firstOfAll() || st.core.past != nil || st.core.inRun(id) || !st.core.neverAsked(id) {
		return false, nil
	}
	if st.left != nil {
		return st.left.has(int(id)), nil
	}
	left, own := newBitset(st.core.store.URLs()), newBitset(st.core.store.URLs())
	err := tx.Hosts.Each(1, func(h *schema.Host) (bool, error) {
		if h.Run == st.core.run.ID {
			for _, r := range h.Retries {
				if st.core.isPage(r.URL) {
					left.set(int(r.URL))
				}
			}
		}
		return true, tx.Frontier.Walk(h, func(priority uint8, id schema.ID) bool {
			left.set(int(id))
			if schema.PriorityOwn(priority) {
				own.set(int(id))
			}
			return true
		})
	})
	if err == nil {
		st.left, st.ownLeft = left, own
	}
	return err == nil && left.has(int(id)), err
}
