// Package clock keeps the clocks of a host: when it may next be requested, how an answer changes that, and
// how long a retry waits.
//
// Its functions read or change only the durable [schema.Host] they are given; they know neither a store nor
// other hosts. [config.Config.FullDelay] defines the host's delay.
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

// adaptiveDelay returns the time to wait after the end of a response.
func adaptiveDelay(cfg *config.Config, h *schema.Host) time.Duration {
	if !cfg.Politeness.AdaptiveDelay {
		return 0
	}
	d := time.Duration(cfg.Politeness.DelayFactor * float64(h.Smoothed))
	return min(d, cfg.Politeness.MaxAdaptiveDelay)
}

// Rest returns how long a host is left alone if it is unknown when it was last requested and answered: its
// full delay, or the adaptive delay of its last answers if that is longer.
func Rest(cfg *config.Config, h *schema.Host) time.Duration {
	return max(cfg.FullDelay(h), adaptiveDelay(cfg, h))
}

// delayed returns when a host may next be requested, after a request whose response began at first and ended
// at end.
func delayed(cfg *config.Config, h *schema.Host, first, end time.Time) time.Time {
	ready := first.Add(cfg.FullDelay(h))
	if adapted := end.Add(adaptiveDelay(cfg, h)); adapted.After(ready) {
		ready = adapted
	}
	return ready
}

// Ready returns when the clocks of a host run out, according to its record. The host is requested no earlier
// than that, and not before its [Rest] has passed since a start.
func Ready(cfg *config.Config, h *schema.Host) time.Time {
	ready := delayed(cfg, h, h.LastByte, h.LastEnd)
	if h.Throttles > 0 {
		ready = later(ready, h.RestsUntil(time.Now()))
	}
	return ready
}

// ReadyAfter returns when a host may next be requested after a request; ready is the time that applied
// before. The request may have been sent before others that have already been answered.
func ReadyAfter(cfg *config.Config, h *schema.Host, ready time.Time, o *ring.Outcome) time.Time {
	ready = later(ready, delayed(cfg, h, o.FirstByte, o.Done))
	if cfg.Politeness.MaxParallelPerDomain > 1 { // counted from request to request
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

// Revive takes a host back that was given up under another configuration, if this one would not give it up.
// Its clocks are unchanged. It reports whether it did so.
func Revive(cfg *config.Config, h *schema.Host) bool {
	if !forgives(cfg, h) {
		return false
	}
	h.RunGivenUp, h.RunGivenUpAt, h.RunGivenUpWhy = schema.NotGivenUp, 0, schema.Reason{}
	return true
}

// forgives reports whether a host was given up because of a key that now has another value. Under the
// configuration that gave it up the result is false, however much time has passed.
func forgives(cfg *config.Config, h *schema.Host) bool {
	switch h.RunGivenUp {
	case schema.GaveUpCrawlDelay:
		return !cfg.AsksTooMuch(h)
	case schema.GaveUpRateLimit:
		if h.RunGivenUpWhy.Cause == schema.CauseStillToWait { // however often it had been throttled before
			return h.RunGivenUpWhy.Wait < cfg.Politeness.MaxSuspension
		}
		return h.Throttles > 0 && !throttledOut(cfg, h) && h.SuspendedFor <= cfg.Politeness.MaxSuspension
	case schema.GaveUpRobots:
		return cfg.Politeness.RobotsUnreachable == config.RobotsAllow || !TriedOut(cfg, h)
	}
	return false
}

// throttledOut reports whether a host has asked for rest as many times in a row as allowed.
func throttledOut(cfg *config.Config, h *schema.Host) bool {
	return int(h.Throttles) >= min(cfg.Politeness.MaxRateLimits, math.MaxUint8)
}

// Observe updates a host's clocks and counters after a request.
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

// smooth updates the exponentially weighted mean of response times. Only a 200 may lower it.
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

// OutOfReach reports whether the last three requests in a row failed to reach the host.
func OutOfReach(h *schema.Host) bool { return h.Failures >= maxFailures }

// Throttle suspends a host that asked for rest: for its Retry-After, or without one for a time that grows
// with each suspension. Answers to requests that were open when the suspension began belong to it; it lasts
// until the latest time that any of them gives. Throttle returns why the host is to be given up; zero: it is
// not.
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
	base := min(cfg.BaseDelay(h), cfg.FullDelay(h)) // less only if its crawl-delay is too long
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

// prolong extends a current suspension to the end that another answer gives, if that is later.
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

// Unthrottle ends a suspension once the host has answered normally. Silence is not an answer.
func Unthrottle(h *schema.Host, o *ring.Outcome) {
	if h.Throttles > 0 && o.Status != 0 && o.Step.Suspension == h.Suspension {
		h.Throttles, h.SuspendedTo, h.SuspendedFor = 0, time.Time{}, 0
	}
}

// Clamp limits stored clocks to their longest possible value, so that a wall clock that jumped cannot block a
// host forever.
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

// Backoff returns how long to wait before a retry. tries is the number of failed tries and at least 1.
func Backoff(cfg config.Retry, tries int) time.Duration {
	d := longestBackoff(cfg, tries)
	if cfg.Backoff == config.BackoffExponential {
		d = d/2 + rand.N(d/2+1)
	}
	return min(d, cfg.MaxDelay)
}

// CopyStands reports whether the copy of a host's robots.txt applies at a given time. It applies for
// robots-ttl, and while the file is unreachable for up to 30 days: between the tries, and after the last one
// until the next request.
func CopyStands(cfg *config.Config, h *schema.Host, now time.Time) bool {
	age := now.Sub(h.RobotsAt)
	return !h.RobotsAt.IsZero() &&
		(age < cfg.Politeness.RobotsTTL || age < schema.MaxRobotsAge && h.RobotsTries > 0 && h.RobotsDue.After(now))
}

// AllAllowed reports whether everything is allowed at a given time because all tries for the host's
// robots.txt have failed. This holds until the file is requested again.
func AllAllowed(cfg *config.Config, h *schema.Host, now time.Time) bool {
	return cfg.Politeness.RobotsUnreachable == config.RobotsAllow && TriedOut(cfg, h) && h.RobotsDue.After(now)
}

// TriedOut reports whether all tries for a host's robots.txt have been used.
func TriedOut(cfg *config.Config, h *schema.Host) bool {
	return int(h.RobotsTries) > cfg.Retry.MaxRetries
}

// RobotsBackoff returns how long to wait before the next try for a host's robots.txt, given its failed tries;
// after the last one, that is robots-ttl.
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
