package exchange

import (
	"cmp"

	"github.com/sumi-ripple/ripple/crawl/cluster/strictjson"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// A Receiver answers the letters to a shard.
type Receiver struct{ shard Recipient }

// NewReceiver returns the receiver of a shard.
func NewReceiver(s Recipient) *Receiver { return &Receiver{s} }

// NotNow returns the answer of a shard that has not begun to crawl, or whose run is over: the letter must be
// sent again.
func NotNow() []byte { return strictjson.Encode(answer{Verdict: later, Opening: make([]byte, 16)}) }

// Answer applies and answers an untrusted letter. An error comes from the file or its crawl; then there is no
// answer.
func (r *Receiver) Answer(text []byte) ([]byte, error) {
	l, err := decodeLetter(text)
	if err != nil {
		return strictjson.Encode(answer{Verdict: refused}), nil
	}
	a, err := r.judge(&l)
	if err != nil {
		return nil, err
	}
	if a.Verdict != done {
		return strictjson.Encode(a), nil
	}
	if l.Errand != nil {
		return r.report(&l, a)
	}
	if err := r.shard.Apply(l.Referrals); err != nil {
		return nil, err
	}
	if a, err = r.judge(&l); err != nil { // as of the commit; the terrain may have advanced
		return nil, err
	}
	return strictjson.Encode(a), nil
}

// report answers with the report of an errand.
func (r *Receiver) report(l *letter, a answer) ([]byte, error) {
	e := ring.Errand{From: l.From, To: l.To, Kind: ring.Robots, ID: l.Errand.ID, URL: l.Errand.URL}
	if l.Errand.Asset {
		e.Kind, e.Accept = ring.Asset, l.Errand.Accept
	}
	rep, known, err := r.shard.Errand(e, max(l.Errand.At, 0), maxPiece)
	if err != nil {
		return nil, err
	}
	if !known {
		a.Verdict, a.Behind = busy, rep.Behind
		return strictjson.Encode(a), nil
	}
	a.Report = &report{
		Cause: rep.Cause, Detail: rep.Detail, Status: rep.Status, Location: rep.Location, Header: rep.Header,
		Refused: rep.Refused, Piece: rep.Body, Size: rep.Size, Sum: rep.Sum,
		Age: rep.Age.Milliseconds(),
	}
	return strictjson.Encode(a), nil
}

// judge decides the verdict on a letter, for the current state of the file.
func (r *Receiver) judge(l *letter) (a answer, err error) {
	err = r.shard.View(func(tx *kv.Tx) error {
		opening, commit, err := tx.Openings.Now()
		if err != nil {
			return err
		}
		part := tx.Part.Of()
		a = answer{Opening: opening[:], Commit: commit, Run: part.Run, Configuration: part.Configuration}
		at := cmp.Or(cmp.Compare(l.Run, part.Run), cmp.Compare(l.Configuration, part.Configuration))
		switch {
		case [16]byte(l.Terrain) != part.Terrain, l.To != part.Shard, l.From == part.Shard, l.From < 0,
			l.From >= part.Shards:
			a = answer{Verdict: refused}
		case l.Errand == nil && len(l.Referrals) == 0:
			a.Verdict = lacks
			has, err := tx.Openings.Contains(schema.Opening(l.Opening), l.Commit)
			if has {
				a.Verdict = contains
			}
			return err
		case l.Errand == nil && schema.Opening(l.Opening) != opening:
			a.Verdict = moved
		case at > 0:
			a.Verdict = later
		case at < 0:
			a.Verdict = older
		default:
			a.Verdict = done
		}
		return nil
	})
	return a, err
}
