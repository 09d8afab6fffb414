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
// none as long as nobody answers, or the request is not made yet, or the pieces do not make one
// answer: then the errand has to be sent again. A body of more than so many bytes counts as if the
// host had not been asked. Admit waits for memory for a body that does not fit into one letter. An
// error comes from the shard's file.
func Inquire(ctx context.Context, s Shard, c Carrier, e ring.Errand, most int64, admit func(size int64) error) (
	r ring.Report, known bool, err error) {
	var l letter
	err = s.View(func(tx *kv.Tx) error {
		l = (&Sender{peer: e.To}).begin(tx.Part.Of())
		return nil
	})
	if err != nil {
		return r, false, err
	}
	in := inquiry{sender: Sender{carrier: c, peer: e.To}, letter: l, most: most, admit: admit}
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
	most   int64
	admit  func(size int64) error
	head   *report // the first piece
	body   []byte
}

// ask gets the next piece. There is a report as soon as no more are wanted, if it is known.
func (in *inquiry) ask(ctx context.Context) (r ring.Report, known, more bool) {
	a, ok := in.sender.ask(ctx, in.letter)
	switch {
	case ok && (a.Verdict == refused || a.Report.tooLarge(in.most)):
		return ring.Report{Cause: schema.CauseTargetGivenUp}, true, false
	case !ok || a.Verdict != done || !a.Report.possible(in.letter.Errand.Asset) || !in.take(a.Report):
		return ring.Report{}, false, false
	case len(in.body) < in.head.Size:
		return ring.Report{}, false, true
	case xxh3.Hash(in.body) != in.head.Sum:
		return ring.Report{}, false, false
	}
	return ring.Report{
		Cause: in.head.Cause, Detail: schema.Clean(in.head.Detail, 256),
		Status: in.head.Status, Location: in.head.Location,
		Header: in.head.Header, Refused: schema.Clean(in.head.Refused, 256), Body: in.body,
	}, true, false
}

func (rep *report) tooLarge(most int64) bool { return rep != nil && int64(rep.Size) > most }

// possible reports whether there is a report, and it may be one.
func (rep *report) possible(asset bool) bool {
	return rep != nil && rep.Size >= 0 &&
		(!asset || rep.Cause != schema.CauseNone || rep.Refused != "" || rep.Status >= 100 && rep.Status <= 999)
}

// take takes a piece in, unless it belongs to another answer than the others, or has a size that it cannot
// have.
func (in *inquiry) take(rep *report) bool {
	if in.head == nil {
		if rep.Size > len(rep.Piece) && in.admit(int64(rep.Size)) != nil {
			return false
		}
		in.head, in.body = rep, slices.Grow(in.body, rep.Size)
	}
	if rep.Size != in.head.Size || rep.Sum != in.head.Sum || len(rep.Piece) != min(maxPiece, rep.Size-len(in.body)) {
		return false
	}
	in.body = append(in.body, rep.Piece...)
	return true
}
