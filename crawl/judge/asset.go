package judge

import (
	"github.com/sumi-ripple/ripple/crawl/fetch"
	"github.com/sumi-ripple/ripple/crawl/render"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/schema"
)

// An AssetVerdict is what an answer means for a resource that the scripts of a page request.
type AssetVerdict struct {
	Act    Act
	Next   *ring.Step     // of Follow
	Answer *render.Answer // of Settle: the answer for every page from now on
}

// Asset judges an answer for a resource that the scripts of a page request. Every status is a final answer,
// except one that asks for rest or a retry; the requesting page follows redirects itself. triesLeft reports
// whether a retry is allowed, and givenUp whether the host is no longer requested.
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
