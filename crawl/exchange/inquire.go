package exchange

import (
	"context"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// Inquire has another shard do an errand, and returns the report if there is one. There is
// none as long as nobody answers, or the request is not made yet, or what comes is not one
// answer: the errand is to be sent again then. Admit is asked before a body is taken in that
// does not fit into one letter, and errs where so many bytes must not be. An error is one of
// the shard's file.
func Inquire(ctx context.Context, s Shard, c Carrier, e ring.Errand, admit func(size int) error) (
	r ring.Report, known bool, err error) {
	var l letter
	err = s.View(func(tx *kv.Tx) error {
		l = (&Sender{peer: e.To}).begin(tx.Part.Of())
		return nil
	})
	if err != nil {
		return r, false, err
	}
	in := inquiry{sender: Sender{carrier: c, peer: e.To}, letter: l, admit: admit}
	for {
		in.letter.Errand = &errand{ID: e.ID, URL: e.URL, Asset: e.Kind == ring.Asset, At: len(in.body)}
		if r, known, more := in.ask(ctx); !more {
			return r, known, nil
		}
	}
}

// An inquiry gathers the pieces of a report.
type inquiry struct {
	sender Sender
	letter letter
	admit  func(size int) error
	head   *report // the first piece
	body   []byte
}

// ask gets the next piece. There is a report as soon as no more are wanted, if it is known.
func (in *inquiry) ask(ctx context.Context) (r ring.Report, known, more bool) {
	a, ok := in.sender.ask(ctx, in.letter)
	switch {
	case ok && a.Verdict == refused:
		return ring.Report{Cause: schema.CauseTargetGivenUp}, true, false
	case !ok || a.Verdict != done || a.Report == nil || !in.take(a.Report):
		return ring.Report{}, false, false
	case len(in.body) < in.head.Size:
		return ring.Report{}, false, true
	case xxh3.Hash(in.body) != in.head.Sum:
		return ring.Report{}, false, false
	}
	return ring.Report{
		Cause: in.head.Cause, Detail: schema.Clean(in.head.Detail, 256), Status: in.head.Status, Location: in.head.Location,
		Header: in.head.Header, Refused: schema.Clean(in.head.Refused, 256), Body: in.body,
	}, true, false
}

// take takes a piece in, unless it is none of the answer that the others are of, or leads no
// further.
func (in *inquiry) take(rep *report) bool {
	if in.head == nil {
		if rep.Size < 0 || rep.Size > len(rep.Piece) && in.admit(rep.Size) != nil {
			return false
		}
		in.head, in.body = rep, slices.Grow(in.body, rep.Size)
	}
	if rep.Size != in.head.Size || rep.Sum != in.head.Sum {
		return false
	}
	in.body = append(in.body, rep.Piece...)
	return len(in.body) == rep.Size || len(in.body) < rep.Size && len(rep.Piece) > 0
}
