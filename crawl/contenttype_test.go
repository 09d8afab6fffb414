package crawl

import (
	"strings"
	"testing"
)

// The essential part of a Content-Type is kept, however long the header is.
func TestContentType(t *testing.T) {
	tests := []struct{ in, want string }{
		{"text/html; charset=utf-8", "text/html; charset=utf-8"},
		{"text/html;;charset=koi8-r", "text/html;;charset=koi8-r"},
		{"text/html; x=" + strings.Repeat("y", 200) + "; charset=koi8-r", `text/html;charset="koi8-r"`},
		{strings.Repeat("text/plain, ", 20) + "text/html; charset=koi8-r, text/html", `text/html;charset="koi8-r"`},
		{strings.Repeat("x", 200), ""},
	}
	for _, tt := range tests {
		if got := contentType(tt.in); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.in, got, tt.want)
		}
	}
}
