package fetch

import (
	"net/http"
	"testing"
	"time"
)

// TestRetryAfterZone reads dates in UTC, also where the machine is in the zone that they
// name.
func TestRetryAfterZone(t *testing.T) {
	local := time.Local
	time.Local = time.FixedZone("EST", -5*60*60)
	t.Cleanup(func() { time.Local = local })
	now := time.Date(2026, 1, 15, 10, 30, 0, 0, time.UTC)
	for _, value := range []string{
		"Thu, 15 Jan 2026 10:31:00 GMT", "Thursday, 15-Jan-26 10:31:00 GMT", "Thursday, 15-Jan-26 10:31:00 EST",
		"Thu Jan 15 10:31:00 2026", "Thu, 15 Jan 2026 10:31:00 UTC", "Thu, 15 Jan 2026 10:31:00 +0000", "60.0", "59.2",
		"60.",
	} {
		if got := retryAfterAt(value, now); got != time.Minute {
			t.Errorf("%q: %v, want a minute", value, got)
		}
	}
	for _, value := range []string{"Thursday", "1.2.3", ".", ".5", "1e3", "-1.5", "60 s"} {
		if got := retryAfterAt(value, now); got != -1 {
			t.Errorf("%q: %v", value, got)
		}
	}
}

// TestRetryAfterClock has a machine whose clock is wrong: what the server wants is told by the server's.
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
