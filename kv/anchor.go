package kv

import (
	"encoding/binary"

	"github.com/sumi-ripple/ripple/schema"
)

// An anchorPart holds the anchor texts of some visits of one commit: for each visit with any, its number, the
// number of its links, and one text per link.
type anchorPart struct {
	first, last schema.Seq
	text        writer

	seq  schema.Seq // read last; 0: none
	next int        // in the text, after its anchors
}

// Limits of a page, in any release: one link to each URL, up to the maximum of [crawler] max-links-per-page,
// each with an anchor of 120 characters and its length.
const (
	maxLinks  = 1 << 20
	maxAnchor = 512 // bytes
)

// mostAnchors returns the largest size of a part in bytes: less than partSize before its last visit, plus
// that visit's anchors.
func (vs *Visits) mostAnchors() int {
	return partSize + 2*binary.MaxVarintLen64 + maxAnchor*min(maxLinks, int(vs.tx.s.state.urls))
}

// keepAnchors collects the anchors of a visit for the end of the commit.
func (vs *Visits) keepAnchors(v *schema.Visit) {
	if !hasAnchors(v.Links) {
		return
	}
	if n := len(vs.anchors); n == 0 || len(vs.anchors[n-1].text.b) >= partSize {
		vs.anchors = append(vs.anchors, anchorPart{first: v.Seq, text: vs.anchorText})
		vs.anchorText = writer{}
	}
	p := &vs.anchors[len(vs.anchors)-1]
	p.last = v.Seq
	p.text.uint(uint64(v.Seq))
	p.text.number(len(v.Links))
	for i := range v.Links {
		p.text.string(v.Links[i].Anchor)
	}
}

func hasAnchors(links []schema.Link) bool {
	for i := range links {
		if links[i].Anchor != "" {
			return true
		}
	}
	return false
}

func (vs *Visits) flushAnchors() error {
	for i := range vs.anchors {
		p := &vs.anchors[i]
		w := vs.tx.fields()
		w.uint(uint64(p.first))
		w.uint(uint64(p.last))
		if err := zip(w, p.text.b, vs.mostAnchors()); err != nil {
			return err
		}
		if err := vs.tx.put(bAnchors, partKey(vs.tx.commit, i), w); err != nil {
			return err
		}
	}
	return nil
}

// Anchors fills in the anchors of a visit's links, which must be as returned by [Visits.At]. Visits of one
// commit are best read one after the other.
func (vs *Visits) Anchors(v *schema.Visit) error {
	visit, err := vs.read(v.Seq)
	if err != nil {
		return err
	}
	visit.id() // the URL
	if visit.uint()&1 == 0 {
		return nil
	}
	return vs.fillAnchors(v.Seq, v.Commit, v.Links, func(schema.ID) bool { return true })
}

// fillAnchors fills in the anchors of those links of a visit whose targets are wanted.
func (vs *Visits) fillAnchors(
	seq schema.Seq, commit uint64, links []schema.Link, want func(to schema.ID) bool,
) error {
	p, err := vs.anchorPart(seq, commit)
	if err != nil {
		return err
	}
	if !p.fill(seq, links, want) {
		return damaged(bAnchors, key64(commit), "does not have the anchors of a visit")
	}
	return nil
}

// fill fills in the anchors of a visit, and reports whether they exist. It continues after the visit of the
// last call, if that is earlier.
func (p *anchorPart) fill(seq schema.Seq, links []schema.Link, want func(to schema.ID) bool) bool {
	if seq <= p.seq {
		p.next = 0
	}
	r := reader{b: p.text.b[p.next:]}
	if !r.anchors(seq, links, want) {
		return false
	}
	p.seq, p.next = seq, len(p.text.b)-len(r.b)
	return true
}

// anchors reads the texts of visits up to the given one, and fills in the anchors of its links.
func (r *reader) anchors(of schema.Seq, links []schema.Link, want func(to schema.ID) bool) bool {
	for len(r.b) > 0 {
		seq, n := schema.Seq(r.uint()), r.length(1)
		if seq == of && n == len(links) {
			for i := range links {
				if text := r.raw(r.uint()); want(links[i].To) {
					links[i].Anchor = string(text)
				}
			}
			return !r.bad
		}
		for range n {
			r.raw(r.uint())
		}
	}
	return false
}

// anchorPart finds the part with a visit's anchors: in this commit, among those read last, or in the file.
func (vs *Visits) anchorPart(seq schema.Seq, commit uint64) (*anchorPart, error) {
	for i := range vs.anchors {
		if p := &vs.anchors[i]; p.first <= seq && seq <= p.last {
			return p, nil
		}
	}
	for i := range vs.tx.s.anchors {
		if p := &vs.tx.s.anchors[i]; p.first <= seq && seq <= p.last {
			return p, nil
		}
	}
	for part := range 1 << 16 {
		key := partKey(commit, part)
		r, err := vs.tx.get(bAnchors, key)
		if err != nil {
			return nil, missing(err, bAnchors, key)
		}
		p := anchorPart{first: schema.Seq(r.uint()), last: schema.Seq(r.uint())}
		if seq < p.first || seq > p.last {
			continue
		}
		two := &vs.tx.s.anchors
		older := two[1].text.b
		if two[0], two[1] = (anchorPart{}), two[0]; cap(older) > hugePart {
			older = nil
		}
		if p.text.b, err = unzip(&r, older, vs.mostAnchors()); err != nil {
			return nil, damaged(bAnchors, key, err.Error())
		}
		two[0] = p
		return &two[0], nil
	}
	return nil, damaged(bAnchors, key64(commit), "has no part with a visit")
}
