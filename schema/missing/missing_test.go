package missing

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sumi-ripple/ripple/schema"
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
		if got := strings.ReplaceAll(string(NewMask(tt.page).Replace([]byte(tt.text))), mark, "*"); got != tt.want {
			t.Errorf("%s: %q becomes %q, want %q", tt.page, tt.text, got, tt.want)
		}
	}
}

// TestCompare takes no page for a missing one that only resembles it, whatever its title is.
func TestCompare(t *testing.T) {
	probe := &schema.MissingProbe{Run: 1, Status: 200, Title: "Shop", Shown: 7, Sim: 0xff00}
	for _, tt := range []struct {
		page schema.Content
		want string
	}{
		{schema.Content{Title: "Shop", Shown: 7}, RuleSame},
		{schema.Content{Title: "Shop", Shown: 8, SimHash: 0xff07}, RuleNear},
		{schema.Content{Title: "Bread", Shown: 8, SimHash: 0xff07}, ""},
		{schema.Content{Title: "Shop", Shown: 8, SimHash: 0xff0f}, ""},
		{schema.Content{Title: "Shop", Shown: 8}, ""},
	} {
		if got := Compare(probe, &tt.page); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.page, got, tt.want)
		}
	}
}

// FuzzReplace replaces every address and name, whether or not a part of it is in the text.
func FuzzReplace(f *testing.F) {
	f.Add("/a-page.html?x=1", "/a-page.html?x=1 a page, a-page.html /a-page.htmls %2fa-page.html")
	f.Add("/a%00bcd/\x00bcd", "a\x00bcd abcd bcd")
	f.Fuzz(func(t *testing.T, page, text string) {
		m, want := NewMask(page), []byte(text)
		for _, s := range m.paths {
			want = replaceWhole(want, s, func(_, after []byte) bool { return !longer(after) })
		}
		for _, s := range m.words {
			want = replaceWhole(want, s, func(before, after []byte) bool {
				c, _ := utf8.DecodeLastRune(before)
				return !isWord(c) && !longer(after)
			})
		}
		if got := m.Replace([]byte(text)); !bytes.Equal(got, want) {
			t.Errorf("%s: %q becomes %q, want %q", page, text, got, want)
		}
	})
}
