package kv

import (
	"cmp"
	"encoding/binary"
	"slices"
	"sync/atomic"

	"github.com/sumi-ripple/ripple/schema"
)

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

// EachLinks calls f for all visits in order, except those whose URLs are not wanted, and those without a link
// to a URL for which to is true; nil: all. want and to may be called concurrently. It costs a tenth of
// [Visits.Each], and less for visits that are not wanted. The argument of f is valid while f runs. An error
// of f ends the walk; to allow that, f is also called with the zero Linked after some visits that were left
// out.
func (vs *Visits) EachLinks(
	want func(schema.Seq, schema.ID) bool, to func(schema.ID) bool, f func(*Linked) error,
) error {
	fresh := func(log span) *linked { return &linked{log: log, want: want, to: to} }
	return eachVisit(vs, 1, fresh, func(p *linked) (bool, error) {
		if len(p.all) == 0 {
			return true, f(&Linked{})
		}
		for i := range p.all {
			if err := f(&p.all[i]); err != nil {
				return false, err
			}
		}
		return true, nil
	})
}

// linked are visits with their links.
type linked struct {
	log   span
	want  func(schema.Seq, schema.ID) bool
	to    func(schema.ID) bool
	all   []Linked
	links []schema.Link // of all of them
}

func (p *linked) reset() { p.all, p.links = p.all[:0], p.links[:0] }

func (p *linked) add(at int, key []byte, r *reader) error {
	seq, err := p.log.follows(at, key)
	if err != nil {
		return err
	}
	l := Linked{Seq: seq, URL: r.id()}
	if !p.log.has(l.URL) {
		return p.log.unknown(seq)
	}
	if !p.want(seq, l.URL) {
		return nil
	}
	return p.read(l, r)
}

// read continues after the URL of a visit.
func (p *linked) read(l Linked, r *reader) error {
	n := len(p.links)
	p.links, l.anchored = decodeLinks(r, p.links)
	l.Links = p.links[n:len(p.links):len(p.links)]
	l.Run = schema.RunID(r.id())
	l.commit = r.uint()
	r.uint() // time
	r.uint() // previous visit
	l.Stand = r.earlier(l.Seq)
	l.NoFollow = r.uint()&visitNoFollow != 0
	if !r.bad && !p.log.haveLinks(l.Links) {
		return p.log.unknown(l.Seq)
	}
	if r.bad || p.to != nil && !slices.ContainsFunc(l.Links, func(one schema.Link) bool { return p.to(one.To) }) {
		p.links = p.links[:n]
		return nil
	}
	p.all = append(p.all, l)
	return nil
}

// LinkedAt reads a visit like [Visits.EachLinks].
func (vs *Visits) LinkedAt(seq schema.Seq) (Linked, error) {
	r, err := vs.read(seq)
	if err != nil {
		return Linked{}, err
	}
	p, l := linked{log: vs.log()}, Linked{Seq: seq, URL: r.id()}
	if !p.log.has(l.URL) {
		return Linked{}, p.log.unknown(seq)
	}
	if err := p.read(l, &r); err != nil {
		return Linked{}, err
	}
	if r.bad {
		return Linked{}, damaged(bVisits, key64(uint64(seq)), "cannot be decoded")
	}
	return p.all[0], nil
}

// A Targeted is a visit with the targets of its links, ascending.
type Targeted struct {
	Seq   schema.Seq
	URL   schema.ID
	Run   schema.RunID
	To    []schema.ID
	Stand schema.Seq // see [schema.Visit]
}

// EachTargets is [Visits.EachLinks] starting at a visit, with only the targets of links.
func (vs *Visits) EachTargets(
	from schema.Seq, want func(schema.Seq, schema.ID) bool, f func(*Targeted) error,
) error {
	fresh := func(log span) *targeted { return &targeted{log: log, want: want} }
	return eachVisit(vs, from, fresh, func(p *targeted) (bool, error) {
		for i := range p.all {
			if err := f(&p.all[i]); err != nil {
				return false, err
			}
		}
		return true, nil
	})
}

// targeted are visits with the targets of their links.
type targeted struct {
	log  span
	want func(schema.Seq, schema.ID) bool
	all  []Targeted
	to   []schema.ID // of all of them
}

func (p *targeted) reset() { p.all, p.to = p.all[:0], p.to[:0] }

func (p *targeted) add(at int, key []byte, r *reader) error {
	seq, err := p.log.follows(at, key)
	if err != nil {
		return err
	}
	l := Targeted{Seq: seq, URL: r.id()}
	if !p.log.has(l.URL) {
		return p.log.unknown(seq)
	}
	if !p.want(seq, l.URL) {
		return nil
	}
	n := len(p.to)
	p.to = decodeTargets(r, p.to)
	l.To = p.to[n:len(p.to):len(p.to)]
	l.Run = schema.RunID(r.id())
	for range 3 { // commit, time, previous visit
		r.uint()
	}
	l.Stand = r.earlier(seq)
	switch {
	case r.bad:
		return nil
	case len(l.To) > 0 && l.To[len(l.To)-1] > p.log.urls:
		return p.log.unknown(seq)
	}
	p.all = append(p.all, l)
	return nil
}

// FillAnchors fills in the anchors of those links whose targets are wanted; want may be called concurrently.
// The visits must be as lent by [Visits.EachLinks], in order and with all their links. It is best to pass
// many at once.
func (vs *Visits) FillAnchors(visits []Linked, want func(to schema.ID) bool) error {
	visits = slices.DeleteFunc(slices.Clone(visits), func(l Linked) bool { return !l.anchored })
	if len(visits) == 0 {
		return nil
	}
	if vs.tx.writable {
		for _, l := range visits {
			if err := vs.fillAnchors(l.Seq, l.commit, l.Links, want); err != nil {
				return err
			}
		}
		return nil
	}
	filled, last := 0, visits[len(visits)-1].Seq
	most, huge, begun := vs.mostAnchors(), make(chan struct{}, 1), make([]atomic.Bool, len(visits))
	fresh := func() *filler {
		return &filler{visits: visits, begun: begun, want: want, most: most, huge: huge}
	}
	take := func(f *filler, _ int) (bool, error) {
		filled += f.filled
		return f.last < last, f.failed
	}
	err := eachPieceBut(vs.tx, bAnchors, partKey(visits[0].commit, 0), skipTo(visits), fresh, take)
	if err == nil && filled < len(visits) {
		err = damaged(bAnchors, key64(visits[0].commit), "does not have the anchors of all visits")
	}
	return err
}

// skipTo returns a function that returns, for a key of a part of a commit without any of the visits, the key
// of the next commit with one.
func skipTo(visits []Linked) func(key []byte) []byte {
	at := 0
	return func(key []byte) []byte {
		if len(key) < 8 {
			return nil
		}
		commit := binary.BigEndian.Uint64(key)
		for at < len(visits) && visits[at].commit < commit {
			at++
		}
		if at == len(visits) || visits[at].commit == commit {
			return nil
		}
		return partKey(visits[at].commit, 0)
	}
}

// A filler fills in the anchors of visits from the parts that contain them.
type filler struct {
	visits []Linked
	begun  []atomic.Bool // by visit: a filler has it, and no other may write to its links
	want   func(to schema.ID) bool
	most   int           // largest part, in bytes
	huge   chan struct{} // holds a token while a huge part is read
	filled int
	last   schema.Seq // of the last part
	failed error      // error of the last part, if it is damaged
	text   []byte
}

// hugePart is the size in bytes above which parts are read one at a time: they are rare, since only pages
// with very many links have them.
const hugePart = 4 * partSize

func (f *filler) reset() { f.filled, f.last, f.failed = 0, 0, nil }

func (f *filler) add(_ int, key []byte, r *reader) error {
	f.failed = f.fill(key, r)
	return f.failed
}

func (f *filler) fill(key []byte, r *reader) (err error) {
	first := schema.Seq(r.uint())
	f.last = schema.Seq(r.uint())
	bySeq := func(l Linked, seq schema.Seq) int { return cmp.Compare(l.Seq, seq) }
	at, _ := slices.BinarySearchFunc(f.visits, first, bySeq)
	if rest := f.visits[at:]; len(rest) == 0 || rest[0].Seq > f.last {
		return nil
	}
	if r.unpacked() > hugePart {
		f.huge <- struct{}{}
		defer func() { f.text = nil; <-f.huge }()
	}
	if f.text, err = unzip(r, f.text[:0], f.most); err != nil {
		return damaged(bAnchors, key, err.Error())
	}
	p := anchorPart{text: writer{f.text}}
	for i, l := range f.visits[at:] {
		if l.Seq > f.last {
			break
		}
		if f.begun[at+i].Swap(true) {
			return damaged(bAnchors, key, "has visits that another part has, too")
		}
		if !p.fill(l.Seq, l.Links, f.want) {
			return damaged(bAnchors, key, "does not have the anchors of a visit")
		}
		f.filled++
	}
	return nil
}

// SkimAt reads into v, whose memory it reuses, the numeric fields of a visit, its links, the reason why it is
// not processed, its content type and its charset. It leaves out other texts, facts and sitemap entries.
func (vs *Visits) SkimAt(seq schema.Seq, v *schema.Visit) error {
	r, err := vs.read(seq)
	if err != nil {
		return err
	}
	r.lean = true
	if decodeVisitInto(v, &r, seq); r.bad {
		return damaged(bVisits, key64(uint64(seq)), "cannot be decoded")
	}
	log := vs.log()
	return log.names(v)
}

// A Gist is a visit as read by [Visits.SkimAt], but with its links only counted.
type Gist struct {
	schema.Visit              // without links
	LinkCount    int          // of its own links
	Feeds        int          // of those: links that lead only to feeds
	First        schema.Kinds // of the first link
}

// Gists calls f for all visits in order, except those whose URLs are not wanted; want may be called
// concurrently. The argument of f is valid while f runs. An error of f ends the walk.
func (vs *Visits) Gists(want func(schema.Seq, schema.ID) bool, f func(*Gist) error) error {
	fresh := func(log span) *gists { return &gists{log: log, want: want} }
	return eachVisit(vs, 1, fresh, func(p *gists) (bool, error) {
		for i := range p.all[:p.n] {
			if err := f(&p.all[i]); err != nil {
				return false, err
			}
		}
		return true, nil
	})
}

// gists are the gists of visits: the first n elements of all.
type gists struct {
	log  span
	want func(schema.Seq, schema.ID) bool
	all  []Gist
	n    int
}

func (p *gists) reset() { p.n = 0 }

func (p *gists) add(at int, key []byte, r *reader) error {
	seq, err := p.log.follows(at, key)
	if err != nil {
		return err
	}
	head := reader{b: r.b}
	if url := head.id(); !p.log.has(url) {
		return p.log.unknown(seq)
	} else if !p.want(seq, url) {
		return nil
	}
	if p.n == len(p.all) {
		p.all = append(p.all, Gist{})
	}
	if err := p.all[p.n].read(r, seq, p.log); err != nil {
		return err
	}
	p.n++
	return nil
}

// GistAt reads a visit like [Visits.Gists].
func (vs *Visits) GistAt(seq schema.Seq, g *Gist) error {
	r, err := vs.read(seq)
	if err != nil {
		return err
	}
	return g.read(&r, seq, vs.log())
}

func (g *Gist) read(r *reader, seq schema.Seq, log span) error {
	r.lean = true
	g.Visit = schema.Visit{Seq: seq, URL: r.id()}
	g.LinkCount, g.Feeds, g.First = countLinks(r)
	if decodeFields(&g.Visit, r); r.bad {
		return damaged(bVisits, key64(uint64(seq)), "cannot be decoded")
	}
	return log.names(&g.Visit)
}
