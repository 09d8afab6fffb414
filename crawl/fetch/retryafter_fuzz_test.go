package fetch

import (
	"net/http"
	"strconv"
	"testing"
	"time"
)

// FuzzRetryAfter checks that no value gives a negative time other than -1, and that plain seconds
// are taken as such.
func FuzzRetryAfter(f *testing.F) {
	for _, value := range []string{"120", "0", "", " 7 ", "-1", "1e9", "99999999999999999999",
		"Fri, 31 Dec 1999 23:59:59 GMT", "Sun Nov  6 08:49:37 1994", "40s", "1m30s", "PT1M30S",
		"P1Y2M3DT4H", "2026-01-15T10:31:00Z", `"a";r=0;t=30`, "limit=1, remaining=0, reset=9"} {
		f.Add(value, uint32(120))
	}
	now := time.Date(2026, 1, 15, 10, 30, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, value string, seconds uint32) {
		if d := retryAfterAt(value, now); d < -1 {
			t.Errorf("retryAfterAt(%q) = %v", value, d)
		}
		limit := &Response{Status: 429, FirstByte: now, Header: http.Header{"Ratelimit": {value}, "X-Ratelimit-Reset": {value}}}
		if d := limit.RetryAfter(); d < -1 {
			t.Errorf("rate limit %q: %v", value, d)
		}
		seconds &= 1<<31 - 1
		want := time.Duration(seconds) * time.Second
		if d := retryAfterAt(strconv.FormatUint(uint64(seconds), 10), now); d != want {
			t.Errorf("retryAfterAt(%d) = %v", seconds, d)
		}
		if at := now.Add(want % (100 * 365 * 24 * time.Hour)); retryAfterAt(at.Format("Mon, 02 Jan 2006 15:04:05 GMT"),
			now) != at.Sub(now) {
			t.Errorf("retryAfter of %v = %v", at, retryAfterAt(at.Format("Mon, 02 Jan 2006 15:04:05 GMT"), now))
		}
	})
}
