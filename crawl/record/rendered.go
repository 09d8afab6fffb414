package record

import (
	"github.com/sumi-ripple/ripple/crawl/clock"
	"github.com/sumi-ripple/ripple/crawl/fetch"
	"github.com/sumi-ripple/ripple/crawl/judge"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/schema"
)

// rendered handles the result of rendering a page: another round once the missing resources are
// there, a retry, or the end of the visit, with the page as it was fetched if the browser failed at
// every try.
func (t *turn) rendered(o *ring.Outcome) error {
	t.renderQueue.finished()
	h, err := t.hosts.change(o.Step.For)
	if err != nil {
		return err
	}
	live := t.hosts.live.of(h.ID)
	switch {
	case o.Cause == fetch.Cancelled:
		t.renderQueue.end(live, o)
		t.quotas.release(&o.Step)
		return nil
	case len(o.Missing) > 0:
		return t.renderQueue.fetch(o)
	case o.Failed != "" && !o.TimedOut && !o.Step.Fetched.Once &&
		o.Step.Fetched.Tries < t.in.set.Config.Retry.MaxRetries:
		t.in.log.Debug("page is rendered once more", "url", o.Step.Norm, "reason", o.Failed)
		t.renderQueue.again(o)
		return nil
	case o.Failed != "":
		t.in.log.Warn("a page is recorded without its scripts", "url", o.Step.Norm, "error", o.Failed)
		if o.TimedOut {
			if err := t.renderQueue.timedOut(h); err != nil {
				return err
			}
		}
	}
	t.renderQueue.end(live, o)
	o.Step = o.Step.Fetched.Outcome.Step
	t.quotas.release(&o.Step)
	if done, err := t.ledger.done(o.Step.ID); err != nil || done {
		return err
	}
	return t.settleAnswer(h, o, judge.Page(o, nil, false, false))
}

// fetchedAsset handles the answer to a request for a resource of scripts.
func (t *turn) fetchedAsset(h *schema.Host, live *liveHost, o *ring.Outcome) {
	t.hosts.giveUpUnreached(h, o.Reason())
	step := &o.Step
	givenUp := h.RunGivenUp != schema.NotGivenUp
	v := judge.Asset(o, step.Visit.Retries < t.in.set.Config.Retry.MaxRetries && !givenUp, givenUp)
	switch v.Act {
	case judge.Follow:
		v.Next.Settings = t.in.set
		live.goOn(*v.Next)
	case judge.Rest:
		live.assets = append(live.assets, asset{Resource: step.Resource(), tries: step.Visit.Retries})
	case judge.Retry:
		wait := clock.Backoff(t.in.set.Config.Retry, step.Visit.Retries+1)
		live.assets = append(live.assets, asset{step.Resource(), step.Visit.Retries + 1, o.Done.Add(wait)})
	default:
		t.renderQueue.answer(step.Resource(), v.Answer)
	}
}
