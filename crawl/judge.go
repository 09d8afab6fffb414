package crawl

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"github.com/sumi-ripple/ripple/crawl/fetch"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// maxHops is the number of alias hops of a visit, of redirects of a robots.txt
// chain doubled, and of redirects in a row that are followed (SPEC 4, 5).
const maxHops = 10

// A verdict is what an answer means for the visit it belongs to: it settles the
// URL in a state, asks for another step, for another try, or for rest.
type verdict struct {
	settle   bool
	state    schema.State
	err      string // why the state is not processed
	rule     string // that decided, where one did
	next     *Step
	retry    bool // state and err say how the visit ends when no try is left
	throttle bool
}

func settled(state schema.State, err string) verdict {
	return verdict{settle: true, state: state, err: err}
}

// judge is the table of SPEC 4 and the order of SPEC 6. It depends on the
// outcome alone.
func judge(o *Outcome) verdict {
	if o.Step.Kind == StepHead {
		return judgeHead(o)
	}
	if !o.answered() {
		return judgeFailure(o)
	}
	switch {
	case o.throttled():
		return verdict{throttle: true, state: schema.RateLimited, err: statusText(o.Status)}
	case o.Status >= 200 && o.Status <= 299:
		return judgeSuccess(o)
	case o.Status == http.StatusNotModified && o.Step.Visit.Revisit != 0:
		return settled(schema.Processed, "")
	case o.Status == http.StatusNotModified:
		return settled(schema.Failed, "304 without a conditional request")
	case o.Status >= 300 && o.Status <= 399:
		return judgeRedirect(o)
	case o.Status == http.StatusNotFound || o.Status == http.StatusGone:
		return otherForm(o, settled(schema.DeadLink, statusText(o.Status)))
	case o.Status >= 500 && o.Status <= 599:
		return verdict{retry: true, state: schema.Failed, err: statusText(o.Status)}
	}
	return settled(schema.Failed, statusText(o.Status))
}

// judgeHead believes of HEAD only a type that is not accepted, a redirect, and
// a request for rest; after anything else but a dead connection GET decides.
func judgeHead(o *Outcome) verdict {
	switch {
	case o.Cause.Connection():
		return judgeFailure(o)
	case !o.answered():
	case o.throttled():
		return verdict{throttle: true, state: schema.RateLimited, err: statusText(o.Status)}
	case o.Location != nil:
		return judgeRedirect(o)
	case o.Status >= 200 && o.Status <= 299 && o.ContentType != "" && !o.Step.Settings.accepts(o.ContentType):
		return settled(schema.ContentMismatch, "content type "+mediaType(o.ContentType))
	}
	get := o.follow()
	get.Kind = StepGet
	return verdict{next: get}
}

func judgeSuccess(o *Outcome) verdict {
	if o.Step.URLKind == schema.KindSitemap {
		if o.Error != "" {
			return settled(schema.Failed, o.Error)
		}
		return settled(schema.Processed, "")
	}
	if o.ContentType != "" && !o.Step.Settings.accepts(o.ContentType) {
		return settled(schema.ContentMismatch, "content type "+mediaType(o.ContentType))
	}
	return settled(schema.Processed, "")
}

func judgeRedirect(o *Outcome) verdict {
	if o.Location == nil {
		return settled(schema.Failed, fmt.Sprintf("%s: %s", statusText(o.Status), o.BadLocation))
	}
	if o.Location.Norm != o.Step.Norm {
		return settled(schema.Processed, "")
	}
	form := o.Location.Form
	hop := o.follow()
	if slices.Contains(hop.Visit.Asked, form) || hop.Visit.Hops >= maxHops {
		return settled(schema.Failed, "redirect loop")
	}
	hop.Visit.Hops++
	hop.ask(form)
	return verdict{next: hop}
}

// judgeFailure classes a request that got no whole answer. One that met a dead
// connection is made once more, which is no retry.
func judgeFailure(o *Outcome) verdict {
	if next := o.again(); next != nil {
		return verdict{next: next}
	}
	err := o.Error
	switch o.Cause {
	case fetch.NXDomain, fetch.Refused, fetch.TLS, fetch.TLSTimeout, fetch.RefusedAddress:
		return otherForm(o, settled(schema.Unreachable, err))
	case fetch.DNSTemporary, fetch.ConnectTimeout, fetch.NoRoute, fetch.Proxy:
		return otherForm(o, verdict{retry: true, state: schema.Unreachable, err: err})
	case fetch.Timeout, fetch.Slow, fetch.Reset, fetch.Truncated:
		return verdict{retry: true, state: schema.Failed, err: err}
	case fetch.TooLarge:
		return settled(schema.Failed, "response too large")
	}
	return settled(schema.Failed, err)
}

// otherForm asks the next form of the page, if there is one.
func otherForm(o *Outcome, last verdict) verdict {
	next := o.follow()
	next.Visit.Unreached = next.Visit.Unreached || o.Cause.Connection()
	if o.answered() && slices.Contains(next.Visit.Known, o.Step.URL) {
		next.Visit.Gone = o.Status
	}
	for len(next.Visit.Forms) > 0 {
		form := next.Visit.Forms[0]
		next.Visit.Forms = next.Visit.Forms[1:]
		if !slices.Contains(next.Visit.Asked, form) {
			next.ask(form)
			return verdict{next: next}
		}
	}
	if gone := next.Visit.Gone; gone != 0 { // a server has said so; that others can not be reached says nothing
		return settled(schema.DeadLink, statusText(gone))
	}
	return last
}

// again returns the same step, if it met a connection that had died in the
// meantime, and for the first time in its visit.
func (o *Outcome) again() *Step {
	if !o.Stale || o.Step.Visit.Repeated {
		return nil
	}
	next := o.follow()
	next.Visit.Repeated = true
	return next
}

// follow returns the step as the start of the next one of the same visit.
func (o *Outcome) follow() *Step {
	next := o.Step
	next.Visit.Requests++
	if !slices.Contains(next.Visit.Asked, next.URL) {
		next.Visit.Asked = append(slices.Clip(next.Visit.Asked), next.URL)
	}
	return &next
}

// ask points a step at a form of its page, beginning with HEAD where that is
// the mode.
func (s *Step) ask(form string) {
	s.URL, s.Kind = form, StepGet
	s.ETag, s.Modified, s.Visit.Revisit = "", "", 0
	if s.URLKind == schema.KindPage && s.Settings.asksHead(weburl.PathQuery(form)) {
		s.Kind = StepHead
	}
}

// throttled reports an answer by which the host asks for rest.
func (o *Outcome) throttled() bool {
	return o.answered() && (o.Status == http.StatusTooManyRequests ||
		o.Status == http.StatusServiceUnavailable && o.RetryAfter >= 0)
}

func statusText(code int) string {
	if text := http.StatusText(code); text != "" {
		return fmt.Sprintf("%d %s", code, text)
	}
	return fmt.Sprintf("status %d", code)
}

// backoff returns the time to wait before a try; tries counts those that failed
// and is at least 1.
func backoff(cfg config.Retry, tries int) time.Duration {
	d := longestBackoff(cfg, tries)
	if cfg.Backoff == config.BackoffExponential {
		d = d/2 + rand.N(d/2+1)
	}
	return min(d, cfg.MaxDelay)
}

func longestBackoff(cfg config.Retry, tries int) time.Duration {
	switch cfg.Backoff {
	case config.BackoffFibonacci:
		return multiply(cfg.Delay, fibonacci(tries))
	case config.BackoffExponential:
		return multiply(cfg.Delay, 1<<min(max(tries, 1)-1, 30))
	}
	return cfg.Delay
}

// fibonacci returns 1, 1, 2, 3, 5, 8... for n = 1, 2, 3...
func fibonacci(n int) int64 {
	a, b := int64(1), int64(1)
	for range min(n, 60) - 1 {
		a, b = b, a+b
	}
	return a
}

// multiply returns n times d, or the longest duration if that is longer.
func multiply(d time.Duration, n int64) time.Duration {
	if d > 0 && n > int64(1<<62)/int64(d) {
		return 1 << 62
	}
	return d * time.Duration(n)
}
