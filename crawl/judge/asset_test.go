package judge_test

import (
	"testing"

	"github.com/sumi-ripple/ripple/crawl/judge"
	"github.com/sumi-ripple/ripple/crawl/render"
	"github.com/sumi-ripple/ripple/crawl/ring"
)

// What scripts request is retried after the same answers as a page.
func TestAssetRetries(t *testing.T) {
	set := settings(t)
	for _, status := range []int{200, 304, 404, 499, 500, 503, 599, 600, 999} {
		o := ring.Outcome{Status: status, RetryAfter: -1, Answer: &render.Answer{Status: status}}
		o.Step.Settings = set
		asset, page := judge.Asset(&o, true, false), judge.Page(&o, nil, true, false)
		if (asset.Act == judge.Retry) != (page.Act == judge.Retry) {
			t.Errorf("after %d: %d for what scripts ask for, and %s for a page", status, asset.Act, page)
		}
		if last := judge.Asset(&o, false, false); last.Act != judge.Settle || last.Answer != o.Answer {
			t.Errorf("after %d on the last try: %+v", status, last)
		}
	}
}
