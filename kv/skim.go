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

// A Targeted is a visit with the targets of its links, ascending.
type Targeted struct {
	Seq   schema.Seq
	URL   schema.ID
	Run   schema.RunID
	To    []schema.ID
	Stand schema.Seq // see [schema.Visit]
}

// EachTargets is [Visits.EachLinks] without what is known of links but where they lead, in
// about half of its time.
func (vs *Visits) EachTargets(want func(schema.Seq, schema.ID) bool, f func(*Targeted) error) error {
	var l Targeted
	return vs.eachRecord(1, func(seq schema.Seq, r *reader) (bool, error) {
		l = Targeted{Seq: seq, URL: r.id(), To: l.To[:0]}
		if !want(seq, l.URL) {
			return true, nil
		}
		l.To = decodeTargets(r, l.To)
		l.Run = schema.RunID(r.id())
		for range 3 { // commit, time, the visit before
			r.uint()
		}
		l.Stand = schema.Seq(r.uint())
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

// SkimAt reads of a visit, into v, whose memory it takes, what is said in numbers, its links,
// why it is not processed, its content type and its charset. Other texts, facts and entries
// of a sitemap are left out.
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

// A Gist is what [Visits.SkimAt] says of a visit, but that its links are only counted.
type Gist struct {
	schema.Visit              // without links
	LinkCount    int          // its own links
	First        schema.Kinds // of the first of them
}

// Gists calls f for all visits in order, but for those of URLs that are not wanted. What f is
// given is valid while it runs. An error of f ends it.
func (vs *Visits) Gists(want func(schema.Seq, schema.ID) bool, f func(*Gist) error) error {
	var g Gist
	return vs.eachRecord(1, func(seq schema.Seq, r *reader) (bool, error) {
		if head := (reader{b: r.b}); !want(seq, head.id()) {
			return true, nil
		}
		err := g.read(r, seq)
		if err == nil {
			err = f(&g)
		}
		return err == nil, err
	})
}

// GistAt reads a visit as [Visits.Gists] does.
func (vs *Visits) GistAt(seq schema.Seq, g *Gist) error {
	r, err := vs.read(seq)
	if err != nil {
		return err
	}
	return g.read(&r, seq)
}

func (g *Gist) read(r *reader, seq schema.Seq) error {
	r.lean = true
	g.Visit = schema.Visit{Seq: seq, URL: r.id()}
	g.LinkCount, g.First = countLinks(r)
	if decodeFields(&g.Visit, r); r.bad {
		return damaged(bVisits, key64(uint64(seq)), "cannot be decoded")
	}
	return nil
}
