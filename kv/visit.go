package kv

import (
	"errors"
	"fmt"
	"slices"

	"github.com/sumi-ripple/ripple/schema"
)

// Visits owns the buckets visits, anchors and done: the log of requests. It uses URLs for the identity of a
// visit's URL.
type Visits struct {
	tx   *base
	urls *URLs

	visited    []schema.ID
	anchors    []anchorPart
	anchorText writer // empty, for the first of the anchors
	order      []uint64
	unsorted   []schema.Link
	near       nearby
}

// Add appends a visit to the log and returns its number. It sets Seq, Commit and Prev, and sorts the links by
// target; two links to one target are an error. The visit remains the caller's.
func (vs *Visits) Add(v *schema.Visit) (schema.Seq, error) {
	if err := errors.Join(vs.tx.change(), vs.tx.known(v.URL)); err != nil {
		return 0, err
	}
	if vs.tx.s.state.visits == 1<<32-1 {
		return 0, fmt.Errorf("%w: no more visits", ErrFull)
	}
	if err := vs.check(v); err != nil {
		return 0, err
	}
	v.Seq = schema.Seq(vs.tx.s.state.visits) + 1
	v.Commit = vs.tx.commit
	v.Prev = vs.tx.s.Latest(v.URL)
	form, shape := v.Form, schema.Shape(0)
	if form != "" {
		norm, err := vs.urls.Norm(v.URL)
		if err != nil {
			return 0, err
		}
		shape = schema.ShapeOf(norm, form)
	}
	w := vs.tx.fields()
	encodeVisit(w, v, shape, hasAnchors(v.Links))
	if err := vs.tx.put(bVisits, key64(uint64(v.Seq)), w); err != nil {
		return 0, err
	}
	vs.tx.s.state.visits++
	vs.tx.s.visited(v.URL, v.Seq)
	vs.visited = append(vs.visited, v.URL)
	vs.keepAnchors(v)
	return v.Seq, nil
}

// check sorts the links of a visit and checks that everything it refers to exists.
func (vs *Visits) check(v *schema.Visit) error {
	vs.sortLinks(v.Links)
	before := schema.ID(0)
	for i := range v.Links {
		to := v.Links[i].To
		if to == before || uint32(to) > vs.tx.s.state.urls {
			return fmt.Errorf("kv: visit of URL %d: link to %d cannot be stored", v.URL, to)
		}
		before = to
	}
	for i := range v.Sitemap {
		if err := vs.tx.known(v.Sitemap[i].To); err != nil {
			return err
		}
	}
	if uint32(v.RedirectTo) > vs.tx.s.state.urls || uint64(v.Stand) > uint64(vs.tx.s.state.visits) {
		return fmt.Errorf("kv: visit of URL %d: redirect to %d or standing visit %d not found", v.URL, v.RedirectTo, v.Stand)
	}
	return nil
}

// sortLinks sorts links by target, as numbers, which is several times as fast as comparing and moving
// records.
func (vs *Visits) sortLinks(links []schema.Link) {
	order, unsorted := vs.order[:0], append(vs.unsorted[:0], links...)
	for i := range links {
		order = append(order, uint64(links[i].To)<<32|uint64(i))
	}
	slices.Sort(order)
	for i, o := range order {
		links[i] = unsorted[uint32(o)]
	}
	vs.order, vs.unsorted = order, unsorted
}

func (vs *Visits) read(seq schema.Seq) (reader, error) {
	if seq == 0 || seq > schema.Seq(vs.tx.s.state.visits) {
		return reader{}, fmt.Errorf("%w: visit %d", ErrNotFound, seq)
	}
	r, err := vs.near.get(vs.tx, bVisits, uint64(seq))
	if err != nil {
		return r, missing(err, bVisits, key64(uint64(seq)))
	}
	return r, nil
}

// At returns a visit; its links have no anchors.
func (vs *Visits) At(seq schema.Seq) (*schema.Visit, error) {
	r, err := vs.read(seq)
	if err != nil {
		return nil, err
	}
	return vs.decode(&r, seq)
}

func (vs *Visits) decode(r *reader, seq schema.Seq) (*schema.Visit, error) {
	v, shape := decodeVisit(r, seq)
	if r.bad {
		return nil, damaged(bVisits, key64(uint64(seq)), "cannot be decoded")
	}
	log := vs.log()
	if err := log.names(v); err != nil {
		return nil, err
	}
	return v, vs.fillForm(v, shape)
}

// fillForm fills in the form of a visit that is stored as a shape.
func (vs *Visits) fillForm(v *schema.Visit, shape schema.Shape) error {
	if shape == 0 || shape == schema.ShapeOther {
		return nil
	}
	norm, err := vs.urls.Norm(v.URL)
	if err == nil {
		v.Form = shape.Form(norm)
	}
	return err
}

// AppendLinks appends the links of a visit of a URL (0: any URL), by ascending target and without anchors. It
// decodes nothing else. It appends nothing for a visit whose links are those of another one (see
// [schema.Visit]).
func (vs *Visits) AppendLinks(dst []schema.Link, seq schema.Seq, of schema.ID) ([]schema.Link, error) {
	r, err := vs.read(seq)
	if err != nil {
		return dst, err
	}
	n, url := len(dst), r.id()
	dst, _ = decodeLinks(&r, dst)
	switch {
	case r.bad:
		return dst[:n], damaged(bVisits, key64(uint64(seq)), "cannot be decoded")
	case of != 0 && url != of:
		return dst[:n], OfAnother(seq, of)
	}
	if log := vs.log(); !log.haveLinks(dst[n:]) {
		return dst[:n], log.unknown(seq)
	}
	return dst, nil
}

// Each calls f for the visits starting at a number, in order, until f returns false. Their links have no
// anchors. In an update, f must not add visits.
func (vs *Visits) Each(from schema.Seq, f func(*schema.Visit) (bool, error)) error {
	fresh := func(log span) *decoded { return &decoded{log: log} }
	return eachVisit(vs, from, fresh, func(visits *decoded) (bool, error) {
		for i, v := range visits.all {
			if err := vs.fillForm(v, visits.shapes[i]); err != nil {
				return false, err
			}
			if more, err := f(v); err != nil || !more {
				return false, err
			}
		}
		return true, nil
	})
}

// decoded are complete visits, except for forms stored as shapes.
type decoded struct {
	log    span
	all    []*schema.Visit
	shapes []schema.Shape
}

func (d *decoded) reset() { d.all, d.shapes = d.all[:0], d.shapes[:0] }

func (d *decoded) add(at int, key []byte, r *reader) error {
	seq, err := d.log.follows(at, key)
	if err != nil {
		return err
	}
	v, shape := decodeVisit(r, seq)
	if r.bad {
		return nil
	}
	if err := d.log.names(v); err != nil {
		return err
	}
	d.all, d.shapes = append(d.all, v), append(d.shapes, shape)
	return nil
}

// eachVisit calls take with the results of makers for the visits starting at a number, like [eachPiece]. No
// visit may be missing.
func eachVisit[M maker](vs *Visits, from schema.Seq, fresh func(span) M, take func(M) (bool, error)) error {
	next, more, log := max(from, 1), true, vs.log()
	log.from = next
	err := eachPiece(vs.tx, bVisits, key64(uint64(next)), func() M { return fresh(log) },
		func(made M, visits int) (bool, error) {
			next += schema.Seq(visits)
			var err error
			more, err = take(made)
			return more, err
		})
	if more && err == nil && next <= log.last {
		return damaged(bVisits, key64(uint64(next)), "is missing")
	}
	return err
}

// OfAnother returns [ErrDamaged] for a visit that is listed under a URL but belongs to another.
func OfAnother(seq schema.Seq, url schema.ID) error {
	return damaged(bVisits, key64(uint64(seq)), fmt.Sprintf("is no visit of URL %d", url))
}

// A span is the range of visits of a walk, and the number of URLs they may refer to.
type span struct {
	from, last schema.Seq
	urls       schema.ID
}

// log returns the span of all visits.
func (vs *Visits) log() span {
	return span{1, schema.Seq(vs.tx.s.state.visits), schema.ID(vs.tx.s.state.urls)}
}

// follows checks that key is that of visit number at of the span, and returns the visit's number.
func (s *span) follows(at int, key []byte) (schema.Seq, error) {
	seq := s.from + schema.Seq(at)
	if !isKey(key, uint64(seq)) || seq > s.last {
		return 0, damaged(bVisits, key, "does not follow the one before")
	}
	return seq, nil
}

// names returns an error for a visit that refers to a URL that does not exist. Readers may use the ids as
// indices.
func (s *span) names(v *schema.Visit) error {
	if s.has(v.URL) && v.RedirectTo <= s.urls && s.haveLinks(v.Links) {
		i := 0
		for i < len(v.Sitemap) && s.has(v.Sitemap[i].To) {
			i++
		}
		if i == len(v.Sitemap) {
			return nil
		}
	}
	return s.unknown(v.Seq)
}

func (s *span) has(id schema.ID) bool { return id != 0 && id <= s.urls }

// haveLinks reports whether links with ascending targets lead to URLs that exist.
func (s *span) haveLinks(links []schema.Link) bool {
	return len(links) == 0 || links[len(links)-1].To <= s.urls
}

func (s *span) unknown(seq schema.Seq) error {
	return damaged(bVisits, key64(uint64(seq)), "names a URL that is not there")
}

// flush writes which URLs were visited.
func (vs *Visits) flush() error {
	p := packing{tx: vs.tx, bucket: bDone}
	first := uint64(vs.tx.s.state.visits) + 1 - uint64(len(vs.visited))
	before := int64(0)
	for i, id := range vs.visited {
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
