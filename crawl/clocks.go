package crawl

import (
	"net/http"
	"time"

	"github.com/sumi-ripple/ripple/crawl/fetch"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

const (
	maxTimeoutDoublings = 6
	maxConnFailures     = 3
	maxRetryAfter       = 366 * 24 * time.Hour
)

// baseDelay is the time promised between two requests to a host (SPEC 7).
func baseDelay(cfg *config.Config, h *schema.Host) time.Duration {
	return max(cfg.Crawler.MinimumTimeOnPage, h.CrawlDelay)
}

// fullDelay is the base delay, doubled by every time-out in a row.
func fullDelay(cfg *config.Config, h *schema.Host) time.Duration {
	return multiply(baseDelay(cfg, h), 1<<min(h.Timeouts, maxTimeoutDoublings))
}

// adaptiveDelay is the time that passes after a response has ended.
func adaptiveDelay(cfg *config.Config, h *schema.Host) time.Duration {
	if !cfg.Politeness.AdaptiveDelay {
		return 0
	}
	d := time.Duration(cfg.Politeness.DelayFactor * float64(h.Smoothed))
	return min(d, cfg.Politeness.MaxAdaptiveDelay)
}

// readyAfter is the moment from which a host may be asked again, after a request
// whose response began at first and ended at end.
func readyAfter(cfg *config.Config, h *schema.Host, first, end time.Time) time.Time {
	ready := first.Add(fullDelay(cfg, h))
	if adapted := end.Add(adaptiveDelay(cfg, h)); adapted.After(ready) {
		ready = adapted
	}
	return ready
}

// rest keeps a host from being asked before its delay has passed since a request,
// which may have been sent before others that are answered already.
func (l *liveHost) rest(cfg *config.Config, h *schema.Host, o *Outcome) {
	l.ready = later(l.ready, readyAfter(cfg, h, o.FirstByte, o.Done))
	if cfg.Politeness.MaxParallelPerDomain > 1 { // from admission to admission
		l.ready = later(l.ready, o.Step.Sent.Add(fullDelay(cfg, h)))
	}
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// observe brings a host's clocks and counters up to date with a request.
func observe(h *schema.Host, o *Outcome) {
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
		h.Timeouts = min(h.Timeouts+1, maxTimeoutDoublings)
	case fetch.None:
		h.Timeouts = 0
	}
	if o.answered() {
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

// throttle suspends a host that answered 429, or 503 with Retry-After (SPEC 7).
// Answers to requests that were open when the suspension began count with it.
func (t *turn) throttle(h *schema.Host, o *Outcome) {
	h.RunThrottles++
	if o.Step.Suspension != h.Suspension {
		return
	}
	cfg := t.set.cfg
	h.Throttles++
	h.Suspension++
	level := fibonacci(int(h.Throttles))
	wait := max(multiply(baseDelay(cfg, h), level), multiply(time.Second, level))
	wait = min(wait, cfg.Retry.MaxDelay)
	if o.RetryAfter >= 0 {
		wait = o.RetryAfter
	}
	wait = min(max(wait, baseDelay(cfg, h)), maxRetryAfter)
	h.SuspendedTo, h.SuspendedFor = o.FirstByte.Add(wait), wait
	switch {
	case wait > cfg.Politeness.MaxSuspension:
		t.giveUp(h, schema.GaveUpRateLimit, "asked to wait "+wait.Round(time.Second).String())
	case int(h.Throttles) >= cfg.Politeness.MaxRateLimits:
		t.giveUp(h, schema.GaveUpRateLimit, "rate limited too often in a row")
	}
}

// unthrottle ends a suspension once the host has answered otherwise. Silence is
// no answer.
func unthrottle(h *schema.Host, o *Outcome) {
	if h.Throttles > 0 && o.Status != 0 && o.Step.Suspension == h.Suspension {
		h.Throttles, h.SuspendedTo, h.SuspendedFor = 0, time.Time{}, 0
	}
}

// clampClocks cuts stored clocks to their longest possible value, so that a
// wall clock that jumped can not hold a host for ever.
func clampClocks(cfg *config.Config, h *schema.Host, now time.Time) {
	if limit := now.Add(h.SuspendedFor); h.SuspendedTo.After(limit) {
		h.SuspendedTo = limit
	}
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
		if limit := now.Add(min(longestBackoff(cfg.Retry, h.Retries[i].Attempts), cfg.Retry.MaxDelay)); h.Retries[i].Due.After(limit) {
			h.Retries[i].Due = limit
		}
	}
	if limit := now.Add(min(longestBackoff(cfg.Retry, int(h.RobotsTries)), cfg.Retry.MaxDelay)); h.RobotsDue.After(limit) {
		h.RobotsDue = limit
	}
}
