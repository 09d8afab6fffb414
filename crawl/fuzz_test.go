package crawl

import (
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/crawl/ring"
)

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

// FuzzExact states that a value is sent back to a server exactly as it was received.
func FuzzExact(f *testing.F) {
	f.Add(`"abc"`)
	f.Add("W/\"\x7f\"")
	f.Fuzz(func(t *testing.T, value string) {
		if got := exact(value, 256); got != "" &&
			(got != value || len(got) > 256 || strings.ContainsAny(got, "\r\n\x00")) {
			t.Errorf("exact(%q) = %q", value, got)
		}
	})
}
