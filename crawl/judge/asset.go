package judge

import (
	"github.com/sumi-ripple/ripple/crawl/fetch"
	"github.com/sumi-ripple/ripple/crawl/render"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/schema"
)

// An AssetVerdict is what an answer means for what the scripts of a page ask for.
type AssetVerdict struct {
	Act    Act
	Next   *ring.Step     // of Follow
	Answer *render.Answer // of Settle: what every page is told from now on
}

// Asset judges an answer for what the scripts of a page ask for. Every status is an answer
// but one that asks for rest or for another try; a redirect is followed by who asked.
// triesLeft says that another try may be made, and givenUp that the host is not asked any
// more.
func Asset(o *ring.Outcome, triesLeft, givenUp bool) AssetVerdict {
	switch {
	case o.Cause == fetch.Cancelled:
		return AssetVerdict{Act: Rest}
	case Throttled(o):
		if givenUp {
			return refused(schema.StatusReason(o.Status).String())
		}
		return AssetVerdict{Act: Rest}
	case inTrouble(o) && triesLeft:
		return AssetVerdict{Act: Retry}
	case o.Answered():
		return AssetVerdict{Answer: o.Answer}
	}
	if next := again(o); next != nil {
		return AssetVerdict{Act: Follow, Next: next}
	}
	if v := failure(o); v.Act == Retry && triesLeft {
		return AssetVerdict{Act: Retry}
	}
	return refused(o.Cause.String())
}

func refused(why string) AssetVerdict {
	return AssetVerdict{Answer: &render.Answer{Refused: why}}
}
