package kv

import (
	"errors"
	"fmt"
	"slices"

	"github.com/sumi-ripple/ripple/schema"
)

// AddVisit appends a visit to the log and returns its number. It sets Seq,
// Commit and Prev, and sorts the links by target; two links to one target are
// an error. The visit still belongs to the caller.
func (tx *Tx) AddVisit(v *schema.Visit) (schema.Seq, error) {
	if err := errors.Join(tx.change(), tx.known(v.URL)); err != nil {
		return 0, err
	}
	if tx.s.state.visits == 1<<32-1 {
		return 0, fmt.Errorf("%w: no more visits", ErrFull)
	}
	if err := tx.checkVisit(v); err != nil {
		return 0, err
	}
	v.Seq = schema.Seq(tx.s.state.visits) + 1
	v.Commit = tx.commit
	v.Prev = tx.s.Latest(v.URL)
	form, shape := v.Form, schema.Shape(0)
	if form != "" {
		norm, err := tx.Norm(v.URL)
		if err != nil {
			return 0, err
		}
		shape = shapeOf(norm, form)
	}
	w := tx.fields()
	encodeVisit(w, v, shape, hasAnchors(v.Links))
	if err := tx.put(bVisits, key64(uint64(v.Seq)), w); err != nil {
		return 0, err
	}
	tx.s.state.visits++
	tx.s.known.of(v.URL).latest = uint32(v.Seq)
	tx.visited = append(tx.visited, v.URL)
	tx.keepAnchors(v)
	return v.Seq, nil
}

// checkVisit puts the links of a visit in order and checks that what it refers
// to is there.
func (tx *Tx) checkVisit(v *schema.Visit) error {
	tx.sortLinks(v.Links)
	before := schema.ID(0)
	for i := range v.Links {
		to := v.Links[i].To
		if to == before || uint32(to) > tx.s.state.urls {
			return fmt.Errorf("kv: visit of URL %d: link to %d cannot be stored", v.URL, to)
		}
		before = to
	}
	for i := range v.Sitemap {
		if err := tx.known(v.Sitemap[i].To); err != nil {
			return err
		}
	}
	if uint32(v.RedirectTo) > tx.s.state.urls || uint64(v.Stand) > uint64(tx.s.state.visits) {
		return fmt.Errorf("kv: visit of URL %d: redirect to %d or standing visit %d not found", v.URL, v.RedirectTo, v.Stand)
	}
	return nil
}

// sortLinks sorts links by target: as numbers, several times as fast as records
// that are compared and moved.
func (tx *Tx) sortLinks(links []schema.Link) {
	order, unsorted := tx.order[:0], append(tx.unsorted[:0], links...)
	for i := range links {
		order = append(order, uint64(links[i].To)<<32|uint64(i))
	}
	slices.Sort(order)
	for i, o := range order {
		links[i] = unsorted[uint32(o)]
	}
	tx.order, tx.unsorted = order, unsorted
}

func (tx *Tx) readVisit(seq schema.Seq) (reader, error) {
	if seq == 0 || seq > schema.Seq(tx.s.state.visits) {
		return reader{}, fmt.Errorf("%w: visit %d", ErrNotFound, seq)
	}
	key := key64(uint64(seq))
	r, err := tx.get(bVisits, key)
	if err != nil {
		return r, missing(err, bVisits, key)
	}
	return r, nil
}

// Visit returns a visit, its links without anchors.
func (tx *Tx) Visit(seq schema.Seq) (*schema.Visit, error) {
	r, err := tx.readVisit(seq)
	if err != nil {
		return nil, err
	}
	return tx.decodeVisit(&r, seq)
}

func (tx *Tx) decodeVisit(r *reader, seq schema.Seq) (*schema.Visit, error) {
	v, shape := decodeVisit(r, seq)
	if r.bad {
		return nil, damaged(bVisits, key64(uint64(seq)), "cannot be decoded")
	}
	if shape == 0 || shape == schema.ShapeOther {
		return v, nil
	}
	norm, err := tx.Norm(v.URL)
	if err != nil {
		return nil, err
	}
	v.Form = formOf(norm, shape)
	return v, nil
}

// AppendLinks appends the links of a visit by ascending target, without
// anchors. It decodes nothing else, and nothing of a visit whose links stand in
// another one (see [schema.Visit]).
func (tx *Tx) AppendLinks(dst []schema.Link, seq schema.Seq) ([]schema.Link, error) {
	r, err := tx.readVisit(seq)
	if err != nil {
		return dst, err
	}
	r.id() // the URL
	dst, _ = decodeLinks(&r, dst)
	if r.bad {
		return dst, damaged(bVisits, key64(uint64(seq)), "cannot be decoded")
	}
	return dst, nil
}

// EachVisit calls f for the visits from a number on, in order, until it returns
// false. Their links have no anchors. In an update, f must add no visits.
func (tx *Tx) EachVisit(from schema.Seq, f func(*schema.Visit) (bool, error)) error {
	next, more := max(from, 1), true
	err := tx.each(bVisits, key64(uint64(next)), func(key []byte, r *reader) (bool, error) {
		if !isKey(key, uint64(next)) {
			return false, damaged(bVisits, key, "does not follow the one before")
		}
		v, err := tx.decodeVisit(r, next)
		if err != nil {
			return false, err
		}
		next++
		more, err = f(v)
		return more, err
	})
	if more && err == nil && next <= schema.Seq(tx.s.state.visits) {
		return damaged(bVisits, key64(uint64(next)), "is missing")
	}
	return err
}

// flushVisits writes which URLs were visited.
func (tx *Tx) flushVisits() error {
	p := packing{tx: tx, bucket: bDone}
	first := uint64(tx.s.state.visits) + 1 - uint64(len(tx.visited))
	before := int64(0)
	for i, id := range tx.visited {
		item, err := p.add(first + uint64(i))
		if err != nil {
			return err
		}
		if p.fresh() {
			before = 0
		}
		item.int(int64(id) - before)
		before = int64(id)
	}
	return p.end()
}
