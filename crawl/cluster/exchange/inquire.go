package exchange

import (
	"context"
	"slices"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// maxAge is the highest age of a report that is believed.
const maxAge = 366 * 24 * time.Hour

// Inquire sends an errand to another shard, and returns the report if there is one. There is none while the
// shard does not answer, while the request is pending, and if the pieces do not belong to one answer: the
// errand must then be sent again. A body larger than most bytes is reported as if its host had not been
// requested. admit waits for memory for a body that does not fit into one letter. Errors come from the
// shard's file.
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
		in.letter.Errand = &errand{
			ID: e.ID, URL: e.URL, Asset: e.Kind == ring.Asset, Accept: e.Accept, At: len(in.body),
		}
		if r, known, more := in.ask(ctx); !more {
			return r, known, nil
		}
	}
}

// An inquiry collects the pieces of a report.
type inquiry struct {
	sender Sender
	letter letter
	most   int64
	admit  func(size int64) error
	head   *report // the first piece
	body   []byte
}

// ask gets the next piece. If no more are needed, it returns the report, if known.
func (in *inquiry) ask(ctx context.Context) (r ring.Report, known, more bool) {
	a, ok := in.sender.ask(ctx, in.letter)
	switch {
	case ok && (a.Verdict == refused || a.Report.tooLarge(in.most)):
		return ring.Report{Cause: schema.CauseTargetGivenUp}, true, false
	case ok && a.Verdict == busy:
		return ring.Report{Behind: schema.Clean(a.Behind, 256)}, false, false
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
		Age:    time.Duration(min(max(0, in.head.Age), maxAge.Milliseconds())) * time.Millisecond,
		Header: in.head.Header, Refused: schema.Clean(in.head.Refused, 256), Body: in.body,
	}, true, false
}

func (rep *report) tooLarge(most int64) bool { return rep != nil && int64(rep.Size) > most }

// possible reports whether there is a report, with plausible values.
func (rep *report) possible(asset bool) bool {
	return rep != nil && rep.Size >= 0 &&
		(!asset || rep.Cause != schema.CauseNone || rep.Refused != "" || rep.Status >= 100 && rep.Status <= 999)
}

// take adds a piece, unless it belongs to another answer than the previous ones, or has an impossible size.
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
