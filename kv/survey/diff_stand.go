package survey

import (
	"cmp"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// goBack makes the results of earlier runs apply to pages that From did not visit.
func (d *Diff) goBack(tx *kv.Tx) error {
	from, imports := &d.sides[0], d.s.core.store.Imports()
	if from.run.Kind == schema.RunImport {
		return from.findMisled(tx, d.s) // it has nothing but what is in the archives
	}
	var work []schema.ID
	for id := schema.ID(1); int(id) < len(from.seq); id++ {
		waits := from.run.Status != schema.RunCompleted && from.seq[id] == 0 && !d.s.core.isPage(id)
		if waits || from.known.has(int(id)) && !from.looked(id) {
			work = append(work, id)
		}
	}
	for len(work) > 0 {
		id := work[len(work)-1]
		work = work[:len(work)-1]
		seq, err := latestBefore(tx, id, d.s.core.store.Latest(id), from.run.FirstVisit, imports)
		if err = cmp.Or(err, d.s.core.live()); err != nil {
			return err
		}
		if seq == 0 {
			continue
		}
		v, err := d.stood(tx, id, seq)
		if err != nil {
			return err
		}
		for _, to := range targetsOf(v) {
			if !from.known.has(int(to)) {
				from.known.set(int(to))
				work = append(work, to)
			}
		}
	}
	return from.findMisled(tx, d.s)
}

// stood records a visit before From as the current one of a URL, and returns the last final visit
// up to it.
func (d *Diff) stood(tx *kv.Tx, id schema.ID, seq schema.Seq) (*schema.Visit, error) {
	from := &d.sides[0]
	v, err := d.visitOf(tx, id, seq)
	if err == nil && from.seq[id] == 0 {
		from.seq[id], from.answer[id] = uint32(seq), answerOf(v)
		if v.State == schema.Processed && v.RedirectTo != 0 {
			from.moved[id] = v.RedirectTo
		}
	}
	for err == nil && !v.Final() && v.Prev != 0 && !d.s.core.store.Imports().Has(v.Prev) {
		v, err = d.visitOf(tx, id, v.Prev)
	}
	if err == nil {
		from.source[id] = uint32(cmp.Or(v.Stand, v.Seq))
	}
	return v, err
}

// visitOf returns a visit of a URL with the links and facts that are current.
func (d *Diff) visitOf(tx *kv.Tx, id schema.ID, seq schema.Seq) (*schema.Visit, error) {
	v, err := d.s.stands.visit(tx, seq)
	if err == nil && v.URL != id {
		err = kv.OfAnother(seq, id)
	}
	return v, err
}

// carryOver marks what stays because To did not visit it: what From found on pages that To knows
// and did not visit, and from there.
func (d *Diff) carryOver() error {
	before, after := &d.sides[0], &d.sides[1]
	var work []schema.ID
	for id := schema.ID(1); int(id) < len(before.seq); id++ {
		if before.seq[id] != 0 && !after.looked(id) && after.known.has(int(id)) {
			work = append(work, id)
		}
	}
	if d.To.Status != schema.RunCompleted { // what its sitemaps may still name
		for id := schema.ID(1); int(id) < len(before.seq); id++ {
			if before.seq[id] != 0 && after.seq[id] == 0 && !d.s.core.isPage(id) {
				work = append(work, id)
			}
		}
	}
	return d.s.core.view(func(tx *kv.Tx) error {
		for len(work) > 0 {
			id := work[len(work)-1]
			work = work[:len(work)-1]
			v, err := d.visitOf(tx, id, schema.Seq(before.source[id]))
			if err != nil {
				return err
			}
			for _, to := range targetsOf(v) {
				if d.carried.has(int(to)) || after.seq[to] != 0 {
					continue
				}
				d.carried.set(int(to))
				if before.seq[to] != 0 && !after.known.has(int(to)) {
					work = append(work, to)
				}
			}
		}
		return nil
	})
}

func targetsOf(v *schema.Visit) []schema.ID {
	ids := make([]schema.ID, 0, len(v.Links)+len(v.Sitemap))
	for _, l := range v.Links {
		ids = append(ids, l.To)
	}
	for _, e := range v.Sitemap {
		ids = append(ids, e.To)
	}
	return ids
}
