package missing

import (
	"strings"
	"testing"
)

// TestReplace replaces whole addresses and names, and tears no word and no longer address.
func TestReplace(t *testing.T) {
	for _, tt := range []struct{ page, text, want string }{
		{"/s", `not found <img src="/static/logo.png">`, `not found <img src="/static/logo.png">`},
		{"/s", "/s/logo.png /s.", "/s/logo.png *."},
		{"/s", "it's not here: https://a.test/s", "it's not here: https://a.test*"},
		{"/a", "sorry, a page like /a, is not here (from=%2fa)", "sorry, a page like *, is not here (from=*)"},
		{"/static", "/static/logo.png /statics /static", "/static/logo.png /statics *"},
		{"/dir/", "/dir/logo.png /dir/", "/dir/logo.png *"},
		{"/über", "/übersicht /über überall über", "/übersicht * überall *"},
		{"/old-news?x=1", "/old-news?x=1 /old-news?x=12 old news, old-news", "* *?x=12 *, *"},
		{"/", "/ and /s", "/ and /s"},
	} {
		if got := strings.ReplaceAll(NewMask(tt.page).Replace(tt.text), mark, "*"); got != tt.want {
			t.Errorf("%s: %q becomes %q, want %q", tt.page, tt.text, got, tt.want)
		}
	}
}
