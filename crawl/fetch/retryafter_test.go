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
		"Thu Jan 15 10:31:00 2026",
	} {
		if got := retryAfterAt(value, now); got != time.Minute {
			t.Errorf("%q: %v, want a minute", value, got)
		}
	}
	if got := retryAfterAt("Thursday", now); got != -1 {
		t.Errorf("no date: %v", got)
	}
}

func retryAfterAt(value string, now time.Time) time.Duration {
	r := &Response{Header: http.Header{"Retry-After": {value}}, FirstByte: now}
	return r.RetryAfter()
}
