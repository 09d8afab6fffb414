package crawl

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl/ring"
)

// FuzzRetryAfter states that a value means a time that is not negative, or
// nothing, and that seconds mean themselves.
func FuzzRetryAfter(f *testing.F) {
	for _, value := range []string{"120", "0", "", " 7 ", "-1", "1e9", "99999999999999999999",
		"Fri, 31 Dec 1999 23:59:59 GMT", "Sun Nov  6 08:49:37 1994"} {
		f.Add(value, uint32(120))
	}
	now := time.Date(2026, 1, 15, 10, 30, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, value string, seconds uint32) {
		if d := retryAfter(value, now); d < -1 {
			t.Errorf("retryAfter(%q) = %v", value, d)
		}
		seconds &= 1<<31 - 1
		want := time.Duration(seconds) * time.Second
		if d := retryAfter(strconv.FormatUint(uint64(seconds), 10), now); d != want {
			t.Errorf("retryAfter(%d) = %v", seconds, d)
		}
		if at := now.Add(want % (100 * 365 * 24 * time.Hour)); retryAfter(at.Format("Mon, 02 Jan 2006 15:04:05 GMT"),
			now) != at.Sub(now) {
			t.Errorf("retryAfter of %v = %v", at, retryAfter(at.Format("Mon, 02 Jan 2006 15:04:05 GMT"), now))
		}
	})
}

// FuzzMediaType states that the media type of a header is lower case without
// parameters, and is its own media type.
func FuzzMediaType(f *testing.F) {
	for _, value := range []string{"text/html; charset=utf-8", "TEXT/HTML", "text/html;", ";", "a/b/c; x=\"",
		"application/xhtml+xml"} {
		f.Add(value)
	}
	f.Fuzz(func(t *testing.T, value string) {
		media := ring.MediaType(value)
		if strings.ContainsRune(media, ';') || media != strings.ToLower(media) || media != strings.TrimSpace(media) {
			t.Errorf("mediaType(%q) = %q", value, media)
		}
		if again := ring.MediaType(media); again != media {
			t.Errorf("mediaType(%q) = %q, and of that %q", value, media, again)
		}
	})
}

// FuzzExact states that what is sent back to a server is what it sent.
func FuzzExact(f *testing.F) {
	f.Add(`"abc"`)
	f.Add("W/\"\x7f\"")
	f.Fuzz(func(t *testing.T, value string) {
		if got := exact(value, 256); got != "" && (got != value || len(got) > 256 || strings.ContainsAny(got, "\r\n\x00")) {
			t.Errorf("exact(%q) = %q", value, got)
		}
	})
}
