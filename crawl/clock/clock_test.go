package clock_test

import (
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl/clock"
	"github.com/sumi-ripple/ripple/crawl/fetch"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

// now returns an arbitrary moment.
func now() time.Time { return time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC) }

func polite() *config.Config {
	cfg := &config.Config{}
	cfg.Crawler.MinimumTimeOnPage = 2 * time.Second
	cfg.Retry = config.Retry{
		MaxRetries: 3, Delay: 10 * time.Second, MaxDelay: time.Hour, Backoff: config.BackoffFibonacci,
	}
	cfg.Politeness.MaxParallelPerDomain = 1
	cfg.Politeness.MaxSuspension = time.Hour
	cfg.Politeness.MaxRateLimits = 3
	return cfg
}

func answer(status int, retryAfter time.Duration) *ring.Outcome {
	return &ring.Outcome{Status: status, RetryAfter: retryAfter, FirstByte: now(), Done: now()}
}

func TestThrottle(t *testing.T) {
	tests := []struct {
		name       string
		host       schema.Host
		retryAfter time.Duration
		wait       time.Duration // from the answer; 0: not suspended
		giveUp     schema.Cause
	}{
		{"the first time, its delay", schema.Host{}, -1, 2 * time.Second, schema.CauseNone},
		{"the second time, the same", schema.Host{Throttles: 1}, -1, 2 * time.Second, schema.CauseNone},
		{"as long as it says", schema.Host{}, time.Minute, time.Minute, schema.CauseNone},
		{"never less than its delay", schema.Host{CrawlDelay: 30 * time.Second}, 0, 30 * time.Second, schema.CauseNone},
		{"longer than the run waits", schema.Host{}, 2 * time.Hour, 2 * time.Hour, schema.CauseAskedToWait},
		{"as long as the run waits", schema.Host{}, time.Hour, time.Hour, schema.CauseNone},
		{"too often in a row", schema.Host{Throttles: 2}, -1, 4 * time.Second, schema.CauseRateLimits},
		{"an answer from before the suspension", schema.Host{Suspension: 1}, time.Minute, 0, schema.CauseNone},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := tt.host
			why := clock.Throttle(polite(), &h, answer(429, tt.retryAfter))
			if why.Cause != tt.giveUp {
				t.Errorf("given up because of %v, want %v", why.Cause, tt.giveUp)
			}
			if h.SuspendedFor != tt.wait || tt.wait > 0 && !h.SuspendedTo.Equal(now().Add(tt.wait)) {
				t.Errorf("suspended for %v to %v, want %v", h.SuspendedFor, h.SuspendedTo, tt.wait)
			}
			if h.RunThrottles != 1 {
				t.Errorf("counted %d times", h.RunThrottles)
			}
		})
	}
}

// If several requests are open when a host asks for rest, the answer with the longest rest counts, whichever
// arrives first.
func TestThrottleOfSeveral(t *testing.T) {
	for name, tt := range map[string]struct {
		retryAfter, want time.Duration
		giveUp           schema.Cause
	}{
		"nothing is said": {-1, time.Minute, schema.CauseNone},
		"a shorter rest":  {time.Second, time.Minute, schema.CauseNone},
		"a longer rest":   {10 * time.Minute, 10 * time.Minute, schema.CauseNone},
		"too long a rest": {2 * time.Hour, 2 * time.Hour, schema.CauseAskedToWait},
	} {
		h := schema.Host{}
		clock.Throttle(polite(), &h, answer(429, time.Minute))
		why := clock.Throttle(polite(), &h, answer(429, tt.retryAfter))
		if h.Throttles != 1 || h.Suspension != 1 || h.RunThrottles != 2 {
			t.Errorf("%s: counts as %d in a row, suspension %d", name, h.Throttles, h.Suspension)
		}
		if !h.SuspendedTo.Equal(now().Add(tt.want)) || h.SuspendedFor != tt.want || why.Cause != tt.giveUp {
			t.Errorf("%s: rests for %v, until %v, given up because of %v", name, h.SuspendedFor, h.SuspendedTo, why.Cause)
		}
	}
}

// A suspension ends with an answer to a request sent during it, not with silence or an answer that was
// already under way.
func TestUnthrottle(t *testing.T) {
	for name, tt := range map[string]struct {
		status     int
		suspension uint32
		ends       bool
	}{
		"an answer":     {200, 4, true},
		"a refusal":     {404, 4, true},
		"silence":       {0, 4, false},
		"an old answer": {200, 3, false},
	} {
		h := schema.Host{Throttles: 2, Suspension: 4, SuspendedTo: now(), SuspendedFor: time.Minute}
		o := answer(tt.status, -1)
		o.Step.Suspension = tt.suspension
		clock.Unthrottle(&h, o)
		if ended := h.Throttles == 0 && h.SuspendedTo.IsZero(); ended != tt.ends {
			t.Errorf("%s: the suspension ended: %t, want %t", name, ended, tt.ends)
		}
	}
}

func TestObserve(t *testing.T) {
	tests := []struct {
		name     string
		cause    fetch.Cause
		timeouts uint8
		failures uint8
	}{
		{"an answer", fetch.None, 0, 0},
		{"a time-out", fetch.Timeout, 3, 0},
		{"no connection in time", fetch.ConnectTimeout, 3, 2},
		{"refused", fetch.Refused, 2, 2},
		{"no way through the proxy", fetch.Proxy, 2, 2},
		{"cut short by us", fetch.Cancelled, 2, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := schema.Host{Timeouts: 2, Failures: 1}
			o := answer(0, -1)
			o.Cause = tt.cause
			clock.Observe(&h, o)
			if h.Timeouts != tt.timeouts || h.Failures != tt.failures || h.Requests != 1 {
				t.Errorf("%d time-outs, %d failures, %d requests; want %d, %d, 1",
					h.Timeouts, h.Failures, h.Requests, tt.timeouts, tt.failures)
			}
		})
	}
	h := schema.Host{}
	for n := range 3 {
		if clock.OutOfReach(&h) {
			t.Errorf("out of reach after %d failures", n)
		}
		o := answer(0, -1)
		o.Cause = fetch.Refused
		clock.Observe(&h, o)
	}
	if !clock.OutOfReach(&h) {
		t.Error("within reach after three failures")
	}
}

func TestRest(t *testing.T) {
	cfg, h := polite(), &schema.Host{Smoothed: 4 * time.Second, Timeouts: 1}
	o := answer(200, -1)
	o.Step.Sent, o.Done = now().Add(-time.Second), now().Add(time.Second)
	want := func(what string, got time.Time, after time.Duration) {
		t.Helper()
		if !got.Equal(now().Add(after)) {
			t.Errorf("%s: after %v, want %v", what, got.Sub(now()), after)
		}
	}
	want("a time-out doubles the delay", clock.ReadyAfter(cfg, h, time.Time{}, o), 4*time.Second)
	want("never before what was promised", clock.ReadyAfter(cfg, h, now().Add(time.Minute), o), time.Minute)
	cfg.Politeness.AdaptiveDelay, cfg.Politeness.DelayFactor, cfg.Politeness.MaxAdaptiveDelay = true, 2, time.Minute
	want("a slow host rests from the end of its answer", clock.ReadyAfter(cfg, h, time.Time{}, o), 9*time.Second)
}

// A host that an earlier run throttled out is given up only for the rest it still needs.
func TestReviveOfOneThatStillRests(t *testing.T) {
	for minutes, want := range map[time.Duration]bool{5: false, 10: false, 15: true} {
		cfg, h := polite(), schema.Host{
			RunGivenUp: schema.GaveUpRateLimit, Throttles: 3, SuspendedFor: 2 * time.Hour,
			RunGivenUpWhy: schema.Reason{Cause: schema.CauseStillToWait, Wait: 10 * time.Minute},
		}
		cfg.Politeness.MaxSuspension = minutes * time.Minute
		if clock.Revive(cfg, &h) != want || (h.RunGivenUp == schema.NotGivenUp) != want {
			t.Errorf("max-suspension of %d min: taken back %v", minutes, !want)
		}
	}
}

// A clock that jumped blocks a host no longer than the host asked for.
func TestClamp(t *testing.T) {
	far := now().Add(1000 * time.Hour)
	h := schema.Host{
		SuspendedTo: far, SuspendedFor: time.Minute, LastByte: far, LastEnd: far, RobotsAt: far, RobotsDue: far,
		RobotsTries: 2, Retries: []schema.Retry{{Attempts: 3, Due: far}},
	}
	clock.Clamp(polite(), &h, now())
	for what, got := range map[string]struct {
		at   time.Time
		want time.Duration
	}{
		"suspension": {h.SuspendedTo, time.Minute},
		"last byte":  {h.LastByte, 0},
		"last end":   {h.LastEnd, 0},
		"robots.txt": {h.RobotsAt, 0},
		"its try":    {h.RobotsDue, 10 * time.Second},
		"a retry":    {h.Retries[0].Due, 20 * time.Second},
	} {
		if !got.at.Equal(now().Add(got.want)) {
			t.Errorf("%s: after %v, want %v", what, got.at.Sub(now()), got.want)
		}
	}
	cfg := polite()
	cfg.Politeness.RobotsTTL = time.Hour
	h.RobotsTries, h.RobotsDue = 4, far
	if clock.Clamp(cfg, &h, now()); !h.RobotsDue.Equal(now().Add(time.Hour)) {
		t.Errorf("robots.txt after its last try: after %v, want its time to live", h.RobotsDue.Sub(now()))
	}
}

func TestBackoff(t *testing.T) {
	retry := polite().Retry
	for tries, want := range []time.Duration{10, 10, 10, 20, 30, 50} {
		if got := clock.Backoff(retry, max(tries, 1)); got != want*time.Second {
			t.Errorf("fibonacci, try %d: %v, want %v", tries, got, want*time.Second)
		}
	}
	if got := clock.Backoff(retry, 100); got != time.Hour {
		t.Errorf("after many tries %v, want max-delay", got)
	}
	retry.Backoff = config.BackoffExponential
	for range 100 {
		if got := clock.Backoff(retry, 3); got < 20*time.Second || got > 40*time.Second {
			t.Fatalf("exponential, try 3: %v, want 20 to 40 s", got)
		}
	}
}

func TestReady(t *testing.T) {
	tests := []struct {
		name string
		host schema.Host
		want time.Duration // after now
	}{
		{"its delay after the first byte", schema.Host{LastByte: now(), LastEnd: now()}, 2 * time.Second},
		{"that of its robots.txt", schema.Host{LastByte: now(), CrawlDelay: time.Minute}, time.Minute},
		{"doubled by time-outs", schema.Host{LastByte: now(), Timeouts: 2}, 8 * time.Second},
		{"as long as it takes to answer", schema.Host{LastByte: now(), LastEnd: now().Add(3 * time.Second),
			Smoothed: 5 * time.Second}, 8 * time.Second},
		{"suspended", schema.Host{LastByte: now(), Throttles: 1, SuspendedTo: now().Add(time.Hour),
			SuspendedFor: time.Hour}, time.Hour},
		{"no longer suspended", schema.Host{LastByte: now(), SuspendedTo: now().Add(time.Hour)}, 2 * time.Second},
	}
	cfg := polite()
	cfg.Politeness.AdaptiveDelay, cfg.Politeness.DelayFactor = true, 1
	cfg.Politeness.MaxAdaptiveDelay = time.Minute
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := clock.Ready(cfg, &tt.host).Sub(now()); got != tt.want {
				t.Errorf("ready after %v, want %v", got, tt.want)
			}
		})
	}
}

// TestCopyStands checks that a copy of robots.txt applies for robots-ttl and, while the file is unreachable,
// for less than 30 days, only between the tries.
func TestCopyStands(t *testing.T) {
	const day = 24 * time.Hour
	for name, tt := range map[string]struct {
		age   time.Duration // 0: no copy
		tries uint8
		due   time.Duration // from now
		want  bool
	}{
		"a young one":                           {day - 1, 0, 0, true},
		"one of robots-ttl":                     {day, 0, 0, false},
		"one of robots-ttl, that was not tried": {day, 0, time.Minute, false},
		"between two tries":                     {day, 1, time.Minute, true},
		"when the next one is due":              {day, 1, 0, false},
		"the last day of 30":                    {30*day - 1, 1, time.Minute, true},
		"one of 30 days":                        {30 * day, 1, time.Minute, false},
		"none":                                  {0, 1, time.Minute, false},
	} {
		h := schema.Host{RobotsTries: tt.tries, RobotsDue: now().Add(tt.due)}
		if tt.age > 0 {
			h.RobotsAt = now().Add(-tt.age)
		}
		cfg := polite()
		cfg.Politeness.RobotsTTL = day
		if got := clock.CopyStands(cfg, &h, now()); got != tt.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// TestAllAllowed checks that an unreachable robots.txt allows everything, if so configured, once all tries
// have failed and until it is requested again.
func TestAllAllowed(t *testing.T) {
	for name, tt := range map[string]struct {
		wanted config.RobotsUnreachable
		tries  uint8
		due    time.Duration // from now
		want   bool
	}{
		"after the last try":         {config.RobotsAllow, 4, time.Minute, true},
		"before the last try":        {config.RobotsAllow, 3, time.Minute, false},
		"when it is asked for again": {config.RobotsAllow, 4, 0, false},
		"not wanted":                 {config.RobotsDisallow, 4, time.Minute, false},
	} {
		h := schema.Host{RobotsTries: tt.tries, RobotsDue: now().Add(tt.due)}
		cfg := polite()
		cfg.Politeness.RobotsUnreachable = tt.wanted
		if got := clock.AllAllowed(cfg, &h, now()); got != tt.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// TestSmoothed checks that the mean of response times starts with the first one and follows longer ones by
// three tenths, shorter ones only after a 200.
func TestSmoothed(t *testing.T) {
	for _, tt := range []struct {
		before, took time.Duration
		status       int
		want         time.Duration
	}{
		{0, time.Second, 404, time.Second},
		{time.Second, 2 * time.Second, 404, 1300 * time.Millisecond},
		{2 * time.Second, time.Second, 404, 2 * time.Second},
		{2 * time.Second, time.Second, 206, 2 * time.Second},
		{2 * time.Second, time.Second, 200, 1700 * time.Millisecond},
	} {
		h := schema.Host{Smoothed: tt.before}
		o := answer(tt.status, -1)
		o.Step.Sent = o.FirstByte.Add(-tt.took)
		if clock.Observe(&h, o); h.Smoothed.Round(time.Microsecond) != tt.want {
			t.Errorf("after a %d in %v the mean goes from %v to %v, want %v", tt.status, tt.took, tt.before, h.Smoothed, tt.want)
		}
	}
}
