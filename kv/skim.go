package kv

import "github.com/sumi-ripple/ripple/schema"

// A LinkFunc is called for a visit with its number, its URL and its links, without
// anchors. Of one without links it is told too where its links stand, see [schema.Visit].
// The links are valid while it runs.
type LinkFunc = func(seq schema.Seq, id schema.ID, links []schema.Link, stand schema.Seq) error

// EachLinks calls f for all visits in order, but for those of URLs that are not wanted.
// It costs a tenth of [Visits.Each], and less for what is not wanted. An error of f ends it.
func (vs *Visits) EachLinks(want func(schema.Seq, schema.ID) bool, f LinkFunc) error {
	var links []schema.Link
	return vs.eachRecord(1, func(seq schema.Seq, r *reader) (bool, error) {
		id, stand := r.id(), schema.Seq(0)
		if !want(seq, id) {
			return true, nil
		}
		if links, _ = decodeLinks(r, links[:0]); len(links) == 0 {
			skipTo(r)
			stand = schema.Seq(r.uint())
		}
		if r.bad {
			return false, damaged(bVisits, key64(uint64(seq)), "cannot be decoded")
		}
		err := f(seq, id, links, stand)
		return err == nil, err
	})
}

// skipTo passes the fields of a visit between its links and the visit that stands.
func skipTo(r *reader) {
	for range 4 { // run, commit, time, the visit before
		r.uint()
	}
}

// Skim calls f for all visits in order, but for those of URLs that are not wanted, with
// what is said of a visit in numbers, why it is not processed, its content type and its
// charset. Other texts, facts and entries of a sitemap are left out. The visit is valid
// while f runs. An error of f ends it.
func (vs *Visits) Skim(want func(schema.Seq, schema.ID) bool, f func(*schema.Visit) error) error {
	var v schema.Visit
	return vs.eachRecord(1, func(seq schema.Seq, r *reader) (bool, error) {
		if head := (reader{b: r.b}); !want(seq, head.id()) {
			return true, nil
		}
		err := skim(r, seq, &v)
		if err == nil {
			err = f(&v)
		}
		return err == nil, err
	})
}

// SkimAt reads a visit as [Visits.Skim] does, into v, whose memory it takes.
func (vs *Visits) SkimAt(seq schema.Seq, v *schema.Visit) error {
	r, err := vs.read(seq)
	if err != nil {
		return err
	}
	return skim(&r, seq, v)
}

func skim(r *reader, seq schema.Seq, v *schema.Visit) error {
	r.lean = true
	if decodeVisitInto(v, r, seq); r.bad {
		return damaged(bVisits, key64(uint64(seq)), "cannot be decoded")
	}
	return nil
}
