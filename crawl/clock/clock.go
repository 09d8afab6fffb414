// Package clock keeps the clocks of a host: when it may be asked again, what an
// answer does to that, and for how long another try waits.
//
// Its functions change the durable [schema.Host] that they are given, or only read
// it; they know neither a store nor the other hosts. What the host's delay is, says
// [config.Config.FullDelay].
package clock

import (
	"math"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/sumi-ripple/ripple/crawl/fetch"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

const maxFailures = 3 // connection failures in a row

// adaptiveDelay is the time that passes after a response has ended.
func adaptiveDelay(cfg *config.Config, h *schema.Host) time.Duration {
	if !cfg.Politeness.AdaptiveDelay {
		return 0
	}
	d := time.Duration(cfg.Politeness.DelayFactor * float64(h.Smoothed))
	return min(d, cfg.Politeness.MaxAdaptiveDelay)
}

// Rest is how long a host is left alone when it is not known what it was asked last, and when
// that was answered: as long as its delay, and as what its last answers have made of that.
func Rest(cfg *config.Config, h *schema.Host) time.Duration {
	return max(cfg.FullDelay(h), adaptiveDelay(cfg, h))
}

// delayed is the moment from which a host may be asked again, after a request
// whose response began at first and ended at end.
func delayed(cfg *config.Config, h *schema.Host, first, end time.Time) time.Time {
	ready := first.Add(cfg.FullDelay(h))
	if adapted := end.Add(adaptiveDelay(cfg, h)); adapted.After(ready) {
		ready = adapted
	}
	return ready
}

// Ready returns when the clocks of a host run out, as its record tells it: it is asked no
// earlier than that, nor before it has had its [Rest] since a start.
func Ready(cfg *config.Config, h *schema.Host) time.Time {
	ready := delayed(cfg, h, h.LastByte, h.LastEnd)
	if h.Throttles > 0 {
		ready = later(ready, h.RestsUntil(time.Now()))
	}
	return ready
}

// ReadyAfter returns when a host may be asked again after a request, if before it that
// was at ready: the request may have been sent before others that are answered
// already.
func ReadyAfter(cfg *config.Config, h *schema.Host, ready time.Time, o *ring.Outcome) time.Time {
	ready = later(ready, delayed(cfg, h, o.FirstByte, o.Done))
	if cfg.Politeness.MaxParallelPerDomain > 1 { // from one request to the next
		ready = later(ready, o.Step.Sent.Add(cfg.FullDelay(h)))
	}
	return ready
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// Revive takes a host back that was given up under another configuration for what this one
// does not give it up. Its clocks stand. It reports whether there was anything to do.
func Revive(cfg *config.Config, h *schema.Host) bool {
	if !forgives(cfg, h) {
		return false
	}
	h.RunGivenUp, h.RunGivenUpAt, h.RunGivenUpWhy = schema.NotGivenUp, 0, schema.Reason{}
	return true
}

// forgives reports whether a host was given up for a key that a configuration has otherwise: under the one
// by which it was given up it does not, whatever time has passed.
func forgives(cfg *config.Config, h *schema.Host) bool {
	switch h.RunGivenUp {
	case schema.GaveUpCrawlDelay:
		return !cfg.AsksTooMuch(h)
	case schema.GaveUpRateLimit:
		if h.RunGivenUpWhy.Cause == schema.CauseStillToWait { // however often it had asked for rest before
			return h.RunGivenUpWhy.Wait < cfg.Politeness.MaxSuspension
		}
		return h.Throttles > 0 && !throttledOut(cfg, h) && h.SuspendedFor <= cfg.Politeness.MaxSuspension
	case schema.GaveUpRobots:
		return cfg.Politeness.RobotsUnreachable == config.RobotsAllow || !TriedOut(cfg, h)
	}
	return false
}

// throttledOut reports whether a host has asked for rest as often in a row as it may.
func throttledOut(cfg *config.Config, h *schema.Host) bool {
	return int(h.Throttles) >= min(cfg.Politeness.MaxRateLimits, math.MaxUint8)
}

// Observe brings a host's clocks and counters up to date with a request.
func Observe(h *schema.Host, o *ring.Outcome) {
	h.LastByte, h.LastEnd = later(h.LastByte, o.FirstByte), later(h.LastEnd, o.Done)
	h.Requests++
	if o.Address != "" {
		h.Address = o.Address
	}
	switch {
	case o.Cause == fetch.Cancelled:
		return
	case o.Cause.Connection():
		h.Failures++
	default:
		h.Failures = 0
	}
	switch o.Cause {
	case fetch.Timeout, fetch.Slow, fetch.ConnectTimeout, fetch.TLSTimeout:
		h.Timeouts = min(h.Timeouts+1, config.MaxDelayDoublings)
	case fetch.None:
		h.Timeouts = 0
	}
	if o.Answered() {
		smooth(h, o.FirstByte.Sub(o.Step.Sent), o.Status == http.StatusOK)
	}
}

// smooth is an exponentially weighted mean of response times; only a 200 may
// lower it.
func smooth(h *schema.Host, sample time.Duration, ok bool) {
	sample = max(0, sample)
	if h.Smoothed == 0 {
		h.Smoothed = sample
		return
	}
	mean := time.Duration(0.3*float64(sample) + 0.7*float64(h.Smoothed))
	if ok || mean > h.Smoothed {
		h.Smoothed = mean
	}
}

// OutOfReach reports whether a host could not be reached three times in a row.
func OutOfReach(h *schema.Host) bool { return h.Failures >= maxFailures }

// Throttle suspends a host that asked for rest: for as long as its Retry-After says, or
// longer each time if it gives none. Answers to requests that were open when the
// suspension began count with it, which lasts as long as the last of them says. It returns
// why the host is to be given up; zero: it is not.
func Throttle(cfg *config.Config, h *schema.Host, o *ring.Outcome) (giveUp schema.Reason) {
	h.RunThrottles++
	if o.Step.Suspension != h.Suspension {
		return prolong(cfg, h, o)
	}
	if h.Throttles < math.MaxUint8 {
		h.Throttles++
	}
	h.Suspension++
	level := fibonacci(int(h.Throttles))
	base := min(cfg.BaseDelay(h), cfg.FullDelay(h)) // less only where it asks for too much
	wait := max(multiply(base, level), multiply(time.Second, level))
	wait = min(wait, cfg.Retry.MaxDelay)
	if o.RetryAfter >= 0 {
		wait = o.RetryAfter
	}
	wait = min(max(wait, base), schema.MaxRest)
	h.SuspendedTo, h.SuspendedFor = o.FirstByte.Add(wait), wait
	switch {
	case wait > cfg.Politeness.MaxSuspension:
		return schema.Reason{Cause: schema.CauseAskedToWait, Wait: wait}
	case throttledOut(cfg, h):
		return schema.Reason{Cause: schema.CauseRateLimits}
	}
	return schema.Reason{}
}

// prolong has a suspension that has begun last as long as an answer says, if that is longer.
func prolong(cfg *config.Config, h *schema.Host, o *ring.Outcome) (giveUp schema.Reason) {
	wait := min(o.RetryAfter, schema.MaxRest)
	until := o.FirstByte.Add(wait)
	if h.Throttles == 0 || wait < 0 || !until.After(h.SuspendedTo) {
		return schema.Reason{}
	}
	h.SuspendedTo, h.SuspendedFor = until, max(h.SuspendedFor, wait)
	if wait > cfg.Politeness.MaxSuspension {
		giveUp = schema.Reason{Cause: schema.CauseAskedToWait, Wait: wait}
	}
	return giveUp
}

// Unthrottle ends a suspension once the host has answered otherwise. Silence is
// no answer.
func Unthrottle(h *schema.Host, o *ring.Outcome) {
	if h.Throttles > 0 && o.Status != 0 && o.Step.Suspension == h.Suspension {
		h.Throttles, h.SuspendedTo, h.SuspendedFor = 0, time.Time{}, 0
	}
}

// Clamp cuts stored clocks to their longest possible value, so that a
// wall clock that jumped cannot hold a host for ever.
func Clamp(cfg *config.Config, h *schema.Host, now time.Time) {
	h.SuspendedTo = h.RestsUntil(now)
	if h.LastByte.After(now) {
		h.LastByte = now
	}
	if h.LastEnd.After(now) {
		h.LastEnd = now
	}
	if h.RobotsAt.After(now) {
		h.RobotsAt = now
	}
	for i := range h.Retries {
		limit := now.Add(min(longestBackoff(cfg.Retry, h.Retries[i].Attempts), cfg.Retry.MaxDelay))
		if h.Retries[i].Due.After(limit) {
			h.Retries[i].Due = limit
		}
	}
	limit := now.Add(min(longestBackoff(cfg.Retry, int(h.RobotsTries)), cfg.Retry.MaxDelay))
	if TriedOut(cfg, h) {
		limit = now.Add(cfg.Politeness.RobotsTTL)
	}
	if h.RobotsDue.After(limit) {
		h.RobotsDue = limit
	}
}

// Backoff returns the time to wait before a try; tries counts those that failed
// and is at least 1.
func Backoff(cfg config.Retry, tries int) time.Duration {
	d := longestBackoff(cfg, tries)
	if cfg.Backoff == config.BackoffExponential {
		d = d/2 + rand.N(d/2+1)
	}
	return min(d, cfg.MaxDelay)
}

// CopyStands reports whether the copy of a host's robots.txt decides at a time: for
// robots-ttl; while the file is unreachable, for 30 days, between the tries and after the
// last one, until it is asked for again.
func CopyStands(cfg *config.Config, h *schema.Host, now time.Time) bool {
	age := now.Sub(h.RobotsAt)
	return !h.RobotsAt.IsZero() &&
		(age < cfg.Politeness.RobotsTTL || age < schema.MaxRobotsAge && h.RobotsTries > 0 && h.RobotsDue.After(now))
}

// AllAllowed reports whether all is allowed at a time because the host's robots.txt was tried
// as often as it should be, until it is asked for again.
func AllAllowed(cfg *config.Config, h *schema.Host, now time.Time) bool {
	return cfg.Politeness.RobotsUnreachable == config.RobotsAllow && TriedOut(cfg, h) && h.RobotsDue.After(now)
}

// TriedOut reports whether a host's robots.txt was tried as often as it should be.
func TriedOut(cfg *config.Config, h *schema.Host) bool {
	return int(h.RobotsTries) > cfg.Retry.MaxRetries
}

// RobotsBackoff returns the time to wait before the next try for a host's robots.txt, of
// which those that failed are counted: after the last one, robots-ttl.
func RobotsBackoff(cfg *config.Config, h *schema.Host) time.Duration {
	if TriedOut(cfg, h) {
		return cfg.Politeness.RobotsTTL
	}
	return Backoff(cfg.Retry, int(h.RobotsTries))
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
