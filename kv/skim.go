package kv

import "github.com/sumi-ripple/ripple/schema"

// A Linked is a visit with its links, without anchors.
type Linked struct {
	Seq      schema.Seq
	URL      schema.ID
	Run      schema.RunID
	Links    []schema.Link
	Stand    schema.Seq // see [schema.Visit]
	NoFollow bool

	commit   uint64
	anchored bool
}

// EachLinks calls f for all visits in order, but for those of URLs that are not wanted.
// It costs a tenth of [Visits.Each], and less for what is not wanted. What f is given is
// valid while it runs. An error of f ends it.
func (vs *Visits) EachLinks(want func(schema.Seq, schema.ID) bool, f func(*Linked) error) error {
	var l Linked
	return vs.eachRecord(1, func(seq schema.Seq, r *reader) (bool, error) {
		l = Linked{Seq: seq, URL: r.id(), Links: l.Links[:0]}
		if !want(seq, l.URL) {
			return true, nil
		}
		l.Links, l.anchored = decodeLinks(r, l.Links)
		l.Run = schema.RunID(r.id())
		l.commit = r.uint()
		r.uint() // the time
		r.uint() // the visit before
		l.Stand = schema.Seq(r.uint())
		l.NoFollow = r.uint()&visitNoFollow != 0
		if r.bad {
			return false, damaged(bVisits, key64(uint64(seq)), "cannot be decoded")
		}
		err := f(&l)
		return err == nil, err
	})
}

// AnchorsOf fills in the anchors of those links of a visit that lead to what is wanted, as
// long as [Visits.EachLinks] lends it.
func (vs *Visits) AnchorsOf(l *Linked, want func(to schema.ID) bool) error {
	if !l.anchored {
		return nil
	}
	return vs.fillAnchors(l.Seq, l.commit, l.Links, want)
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
