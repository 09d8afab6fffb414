package exchange

import (
	"context"

	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// MaxBody is the size of the body in a report at most, in bytes.
const MaxBody = 1 << 20

// Inquire has another shard do an errand, and returns the report if there is one. There is
// none as long as nobody answers, or the request is not made yet: the errand is to be sent
// again then. An error is one of the shard's file.
func Inquire(ctx context.Context, s Shard, c Carrier, e ring.Errand) (r ring.Report, known bool, err error) {
	var l letter
	err = s.View(func(tx *kv.Tx) error {
		l = (&Sender{peer: e.To}).begin(tx.Part.Of())
		return nil
	})
	if err != nil {
		return r, false, err
	}
	sender := Sender{carrier: c, peer: e.To}
	for {
		l.Errand = &errand{ID: e.ID, URL: e.URL, At: len(r.Body)}
		a, ok := sender.ask(ctx, l)
		switch rep := a.Report; {
		case ok && a.Verdict == refused:
			return ring.Report{Cause: schema.CauseTargetGivenUp}, true, nil
		case !ok, a.Verdict != done, rep == nil, rep.Size < 0 || rep.Size > MaxBody:
			return ring.Report{}, false, nil
		case len(r.Body)+len(rep.Piece) == rep.Size:
			return ring.Report{
				Cause: rep.Cause, Detail: schema.Clean(rep.Detail, 256), Status: rep.Status, Location: rep.Location,
				Body: append(r.Body, rep.Piece...),
			}, true, nil
		case len(rep.Piece) == 0 || len(r.Body)+len(rep.Piece) > rep.Size:
			return ring.Report{}, false, nil
		default:
			r.Body = append(r.Body, rep.Piece...)
		}
	}
}
