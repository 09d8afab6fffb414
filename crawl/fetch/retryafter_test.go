package fetch

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Dates are parsed as UTC, even if the machine is in the zone that they name.
func TestRetryAfterZone(t *testing.T) {
	local := time.Local
	time.Local = time.FixedZone("EST", -5*60*60)
	t.Cleanup(func() { time.Local = local })
	now := time.Date(2026, 1, 15, 10, 30, 0, 0, time.UTC)
	for _, value := range []string{
		"Thu, 15 Jan 2026 10:31:00 GMT", "Thursday, 15-Jan-26 10:31:00 GMT", "Thursday, 15-Jan-26 10:31:00 EST",
		"Thu Jan 15 10:31:00 2026", "Thu, 15 Jan 2026 10:31:00 UTC", "Thu, 15 Jan 2026 10:31:00 +0000", "60.0", "59.2",
		"60.", "60s", "60 s", "1m", "1m0s", "59.1s", "60 seconds", "1 minute", "1 min", "60000ms", `"60"`, "PT60S", "PT1M",
		"pt1m", "PT0.5M30S", "P0DT1M", "PT59,5S", "2026-01-15T10:31:00Z", "2026-01-15T10:31:00+00:00", "2026-01-15T12:31:00+02:00",
		"thu, 15 jan 2026 10:31:00 gmt", "Thu, 15 Jan 2026 10:31:00", "Thr, 15 Jan 2026 10:31:00 GMT", "15-Jan-2026 10:31:00 GMT",
		"Thu 15 Jan 2026 10:31:00 utc", "2026-01-15T10:31:00.000Z", "2026-01-15T10:31:00", "2026-01-15 10:31:00",
		"2026-01-15 10:31:00 UTC", "2026-01-15T10:31Z",
		"20260115T103100Z", "Thu, 15 Jan 2026 12:31:00 +0200", "1768473060", "1768473060.0", "1768473060000",
		"60, 60", "60,", "60; comment", "60 (a minute)", "+60", "00:01:00", "0:00:60",
	} {
		if got := retryAfterAt(value, now); got != time.Minute {
			t.Errorf("%q: %v, want a minute", value, got)
		}
	}
	for _, value := range []string{"Thursday", "1.2.3", ".", ".5", "1e3", "-1.5", "60 x", "s", "P", "PT", "P1", "1s x", "-PT1S",
		"+", "+-1", "(60)", "60:00", "::"} {
		if got := retryAfterAt(value, now); got != -1 {
			t.Errorf("%q: %v", value, got)
		}
	}
}

// On a machine with a wrong clock, the wait is computed with the server's clock.
func TestRetryAfterClock(t *testing.T) {
	until := time.Date(2026, 1, 15, 10, 31, 0, 0, time.UTC)
	for _, tt := range []struct {
		date string
		now  time.Time
		want time.Duration
	}{
		{"Thu, 15 Jan 2026 10:30:00 GMT", until, time.Minute},
		{"Thu, 15 Jan 2026 10:30:00 GMT", until.Add(-3 * time.Hour), time.Minute},
		{"Thu, 15 Jan 2026 10:32:00 GMT", until.Add(-time.Minute), 0},
		{"Thu, 01 Jan 1970 00:00:00 GMT", until.Add(-time.Minute), time.Minute},
		{"", until.Add(-time.Minute), time.Minute},
		{"now", until.Add(-time.Minute), time.Minute},
	} {
		r := &Response{FirstByte: tt.now, Header: http.Header{
			"Date": {tt.date}, "Retry-After": {until.Format(http.TimeFormat)}}}
		if got := r.RetryAfter(); got != tt.want {
			t.Errorf("sent at %q, come at %v: %v, want %v", tt.date, tt.now, got, tt.want)
		}
	}
}

func retryAfterAt(value string, now time.Time) time.Duration {
	r := &Response{Header: http.Header{"Retry-After": {value}}, FirstByte: now}
	return r.RetryAfter()
}

// If an answer says that no requests are left, the wait lasts until there are.
func TestRateLimit(t *testing.T) {
	now := time.Date(2026, 1, 15, 10, 30, 0, 0, time.UTC)
	epoch := strconv.FormatInt(now.Add(time.Minute).Unix(), 10)
	tests := []struct {
		status int
		fields string
		want   time.Duration
	}{
		{429, `RateLimit: "default";r=0;t=60`, time.Minute},
		{503, `RateLimit: "default";r=0;t=60`, time.Minute},
		{200, `RateLimit: "default";r=0;t=60`, -1},
		{429, `RateLimit: "a,;r=0;t=9";r=5;t=10, "b";r=0;t=60, "c";t=30;r=0`, time.Minute},
		{429, `RateLimit: "default";r=3;t=60`, -1},
		{429, `RateLimit: "default";r=0`, -1},
		{429, `RateLimit: limit=100, remaining=0, reset=60`, time.Minute},
		{429, `RateLimit: limit=100, remaining=1, reset=60`, -1},
		{429, "RateLimit-Remaining: 0|RateLimit-Reset: 60", time.Minute},
		{429, "X-RateLimit-Remaining: 0|X-RateLimit-Reset: 60", time.Minute},
		{429, "X-Rate-Limit-Remaining: 0|X-Rate-Limit-Reset: 60", time.Minute},
		{429, "X-RateLimit-Remaining: 0|X-RateLimit-Reset: " + epoch, time.Minute},
		{429, "X-RateLimit-Remaining: 0|X-RateLimit-Reset: " + epoch + "000", time.Minute},
		{429, "X-RateLimit-Remaining: 0|X-RateLimit-Reset: 2026-01-15T10:31:00Z", time.Minute},
		{429, "X-RateLimit-Remaining: 0|X-RateLimit-Reset: 1m0s", time.Minute},
		{429, "X-RateLimit-Remaining: 2|X-RateLimit-Reset: 60", -1},
		{429, "RateLimit-Reset: 60", time.Minute},
		{503, "RateLimit-Reset: 60", -1},
		{429, "RateLimit-Remaining: 0|RateLimit-Reset: 60|Retry-After: 90", 90 * time.Second},
		{429, "RateLimit-Remaining: 0|RateLimit-Reset: 60|Retry-After: soon", time.Minute},
		{429, "", -1},
	}
	for _, tt := range tests {
		r := &Response{Status: tt.status, Header: http.Header{}, FirstByte: now}
		for field := range strings.SplitSeq(tt.fields, "|") {
			name, value, _ := strings.Cut(field, ": ")
			r.Header.Add(name, value)
		}
		if got := r.RetryAfter(); got != tt.want {
			t.Errorf("%d %s: %v, want %v", tt.status, tt.fields, got, tt.want)
		}
	}
}
