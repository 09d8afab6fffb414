package record

import (
	"github.com/sumi-ripple/ripple/crawl/judge"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/schema"
)

// Walls in a row after which a host is given up: one that has shown no page in the run, and any other; and after which
// URLs that only other hosts name are not requested any more.
const (
	mostWallsUnseen = 3
	mostWalls       = 10
	mostWallsOthers = 3
)

// meetWall counts walls in a row, and gives a host up that shows nothing else. Walls on URLs that only other hosts
// name are counted apart: they end the requests to such URLs alone. A host, or its line of such URLs, that was given up
// in an earlier run is requested once.
func (h *hosts) meetWall(host *schema.Host, o *ring.Outcome, v judge.Verdict) {
	own := h.ownAnswer(o)
	switch {
	case o.Wall == nil:
		if !o.Answered() || v.Act != judge.Settle {
			return
		}
		switch v.State {
		case schema.Processed:
			host.RunShown, host.ShownWWW = true, isWWW(o.Step.URL, host.Name)
		case schema.DeadLink, schema.ContentMismatch:
		default:
			return
		}
		host.Walls = 0
		if !own {
			host.OthersWalls = 0
		}
	case !own:
		h.refuseOthers(host, v.Reason)
	default:
		host.Walls = max(host.Walls, host.Walls+1) // not beyond the largest number
		if host.Walls >= mostWalls || host.Walls >= mostWallsUnseen && !host.RunShown {
			h.giveUp(host, schema.GaveUpWall, v.Reason)
		}
	}
}

// refuseOthers counts an answer that shows no page at a URL that only other hosts name.
func (h *hosts) refuseOthers(host *schema.Host, why schema.Reason) {
	host.OthersWalls = max(host.OthersWalls, host.OthersWalls+1)
	if host.OthersWalls >= mostWallsOthers && !host.RunOthersEnded {
		host.RunOthersEnded = true
		h.in.log.Debug("host refuses URLs that only others name", "host", host.Name, "reason", why.String())
	}
}

// ownAnswer reports whether an answer is to a sitemap, or to a page that the host itself names or that was its own when
// an earlier run left it waiting.
func (h *hosts) ownAnswer(o *ring.Outcome) bool {
	return !h.in.isPage(o.Step.ID) || h.in.store.Own(o.Step.ID) || o.Step.Visit.LeftOwn
}

// mostPayments is how many demands for payment without a page between them give a host up.
const mostPayments = 3

// meetPayment counts demands for payment without a page between them, and gives up a host that makes three. Those on
// URLs that only other hosts name are counted with walls on such URLs. A host that was given up may have free pages. So
// in the next runs one demand is enough, until a page that had a price is shown.
func (h *hosts) meetPayment(host *schema.Host, o *ring.Outcome, v judge.Verdict) error {
	switch {
	case !o.Answered() || v.Act != judge.Settle:
	case v.State == schema.Processed:
		if host.Payments >= mostPayments {
			if priced, err := h.priced(o.Step.ID); err != nil || !priced {
				return err
			}
		}
		host.Payments = 0
	case v.Reason.Cause != schema.CausePayment:
	case !h.ownAnswer(o):
		h.refuseOthers(host, v.Reason)
	default:
		host.Payments = max(host.Payments, host.Payments+1) // not beyond the largest number
		if host.Payments >= mostPayments {
			h.giveUp(host, schema.GaveUpPayment, v.Reason)
		}
	}
	return nil
}

// priced reports whether the last visit to a URL met a demand for payment.
func (h *hosts) priced(id schema.ID) (bool, error) {
	seq := h.in.latest(id)
	if seq == 0 {
		return false, nil
	}
	v, err := h.in.tx.Visits.At(seq)
	return err == nil && v.Reason.Cause == schema.CausePayment, err
}
