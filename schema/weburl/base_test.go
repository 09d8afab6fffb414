package weburl_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/sumi-ripple/ripple/schema/weburl"
)

func TestBaseParse(t *testing.T) {
	tests := []struct{ name, base, ref, form string }{
		{"sibling", "https://www.example.com/dir/page", "other", "https://www.example.com/dir/other"},
		{"below a folder", "https://example.com/dir/", "page", "https://example.com/dir/page"},
		{"parent", "https://example.com/a/b/c", "../d/", "https://example.com/a/d/"},
		{"dot", "https://example.com/a/b/c", "./d", "https://example.com/a/b/d"},
		{"folder itself", "https://example.com/a/b/c", ".", "https://example.com/a/b/"},
		{"root", "https://example.com/a/b", "/c", "https://example.com/c"},
		{"dots at the root", "https://example.com/a/b", "/../c/.", "https://example.com/c/"},
		{"through empty segments", "https://example.com/a//b/c", "../../d", "https://example.com/a/d"},
		{"query", "https://example.com/a/b?x=1", "?y=2", "https://example.com/a/b?y=2"},
		{"empty", "https://example.com/a/b?x=1", "", "https://example.com/a/b?x=1"},
		{"fragment", "https://example.com/a/b?x=1", "#top", "https://example.com/a/b?x=1"},
		{"strips the base's parameters", "https://example.com/a?utm_id=1", "#top", "https://example.com/a"},
		{"another host", "https://example.com/a", "//other.example/b", "https://other.example/b"},
		{"another port of the scheme", "http://example.com/a", "//other.example:80/b", "https://other.example/b"},
		{"port stays", "https://example.com:8443/a", "b", "https://example.com:8443/b"},
		{"absolute", "https://example.com/a", "http://www.other.example", "https://www.other.example/"},
		{"own scheme says nothing", "https://example.com/a/b", "https:c", "https://example.com/a/c"},
		{"another scheme starts over", "https://example.com/a/b", "http:c", "https://c/"},
		{"colon in a path", "https://example.com/a/b", "./c:d", "https://example.com/a/c:d"},
		{"what begins with a digit is no scheme", "https://example.com/a/b", "1:c", "https://example.com/a/1:c"},
		{"what begins with a sign is no scheme", "https://example.com/a/b", "+a:c", "https://example.com/a/+a:c"},
		{"no scheme at all", "https://example.com/a/b", ":c", "https://example.com/a/:c"},
		{"question in fragment", "https://example.com/a/b", "c#d?e", "https://example.com/a/c"},
	}
	rules := newRules(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			base, err := rules.Base(tt.base)
			if err != nil {
				t.Fatal(err)
			}
			u, err := base.Parse(tt.ref)
			if err != nil || u.Form != tt.form {
				t.Fatalf("Parse(%q) = %q, %v; want %q", tt.ref, u.Form, err, tt.form)
			}
			checkLaws(t, rules, u)
		})
	}
}

func TestOtherSchemes(t *testing.T) {
	base, err := newRules(t).Base("https://example.com/a")
	if err != nil {
		t.Fatal(err)
	}
	for _, ref := range []string{"mailto:b", "h2:b", "svn+ssh://b/", "x-y:b", "a.b:c", "httpss:b", "HTTPX://b"} {
		if u, err := base.Parse(ref); !errors.Is(err, weburl.ErrScheme) {
			t.Errorf("Parse(%q) = %q, %v", ref, u.Norm, err)
		}
	}
}

// With a base of another scheme, only references with their own scheme are accepted.
func TestBaseOfOtherScheme(t *testing.T) {
	page, err := newRules(t).Base("https://example.com/a/b")
	if err != nil {
		t.Fatal(err)
	}
	for _, href := range []string{"file:///C:/site/", "ftp://o.test/d/", "about:blank", " FILE:///x", "blob:https://a.test/1"} {
		base, err := page.With(href)
		if err != nil {
			t.Fatalf("With(%q): %v", href, err)
		}
		for ref, want := range map[string]string{"c": "", "/c": "", "//o.test/c": "", "?c": "", "#c": "",
			"https://o.test/c": "https://o.test/c", "http:o.test/d": "https://o.test/d"} {
			if u, err := base.Parse(ref); u.Norm != want || (want == "") != errors.Is(err, weburl.ErrScheme) {
				t.Errorf("against %q, Parse(%q) = %q, %v; want %q", href, ref, u.Norm, err, want)
			}
		}
	}
	for _, href := range []string{"data:text/html,x", "JavaScript:x", "https://[", "http://"} {
		if _, err := page.With(href); err == nil {
			t.Errorf("With(%q) is a base", href)
		}
	}
}

func TestHTTPIsInherited(t *testing.T) {
	rules := newRules(t)
	base, err := rules.Base("http://example.com/")
	if err != nil {
		t.Fatal(err)
	}
	for ref, want := range map[string]bool{"a": true, "//b.example": true, "https://b.example": false, "http:c": true} {
		if u, err := base.Parse(ref); err != nil || u.HTTP != want {
			t.Errorf("Parse(%q) = %+v, %v; want HTTP %v", ref, u, err, want)
		}
	}
}

func TestBaseWith(t *testing.T) {
	page, err := newRules(t).Base("https://example.com/a/b?utm_id=1")
	if err != nil {
		t.Fatal(err)
	}
	moved, err := page.With("/docs/")
	if err != nil {
		t.Fatal(err)
	}
	if _, err = page.With("data:text/html,x"); !errors.Is(err, weburl.ErrScheme) {
		t.Errorf("With(data:) = %v", err)
	}
	if _, err = page.With("/" + strings.Repeat("long/", 5000)); !errors.Is(err, weburl.ErrTooLong) {
		t.Errorf("With(25,000 bytes) = %v", err)
	}
	for base, want := range map[*weburl.Base]string{page: "https://example.com/a/c", moved: "https://example.com/docs/c"} {
		if u, err := base.Parse("c"); err != nil || u.Norm != want {
			t.Errorf("Parse = %q, %v; want %q", u.Norm, err, want)
		}
	}
}

// All visitors share rules and bases; the race detector checks this.
func TestBaseIsSharedSafely(t *testing.T) {
	base, err := newRules(t).Base("https://example.com/a/b")
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for _, ref := range hostile() {
				_, _ = base.Parse(ref)
			}
		})
	}
	group.Wait()
}

func TestSpellingsShareMemory(t *testing.T) {
	base, err := newRules(t).Base("https://example.com/docs/guide/")
	if err != nil {
		t.Fatal(err)
	}
	for ref, want := range map[string]float64{"intro": 1, "../api?b=1": 1, "../api/?b=1": 2, "/a/": 1,
		"https://other.example/": 1, "//www.other.example/x": 3, "?b&a": 2, "#top": 1} {
		if got := testing.AllocsPerRun(100, func() { _, _ = base.Parse(ref) }); got > want {
			t.Errorf("Parse(%q) allocates %v times, want %v", ref, got, want)
		}
	}
}

// TestPieces builds URLs from significant pieces, which random bytes rarely contain.
func TestPieces(t *testing.T) {
	pieces := []string{
		"https:", "http:", "/", "//", `\`, "?", "&", "=", "#", "@", ":", ".", "..", "%2e", "%", "%41", "%3", "4", "www.",
		"example.com", "EXAMPLE",
		"co.uk", ":80", ":443", ":8080", "a", "Z", "é", "\xc3", " ", "\t", "\n", "\x00", "utm_a=1", "ref", "b=2", "xn--",
		"127.1", "[::1]", "'", "^", "|", "{", ";",
	}
	rules := newRules(t)
	piece := rapid.SampledFrom(pieces)
	rapid.Check(t, func(rt *rapid.T) {
		at := strings.Join(rapid.SliceOfN(piece, 0, 6).Draw(rt, "base"), "")
		ref := strings.Join(rapid.SliceOfN(piece, 0, 10).Draw(rt, "ref"), "")
		base, err := rules.Base("http://www.example.com/" + at)
		if err != nil {
			rt.Fatal(err)
		}
		u, err := base.Parse(ref)
		if err != nil {
			return
		}
		checkLaws(t, rules, u)
		if t.Failed() {
			rt.FailNow()
		}
		if mayDiffer(ref) {
			return
		}
		if want, err := resolveWHATWG("http://www.example.com/"+at, ref); err != nil {
			rt.Errorf("%q on %q = %q; the library says %v", ref, at, u.Form, err)
		} else if got, err := withoutRules(t).Base("http://www.example.com/" + at); err != nil {
			rt.Error(err)
		} else if u, err := got.Parse(ref); err != nil || folded(u.Form) != folded(formOf(want)) {
			rt.Errorf("%q on %q = %q, %v; the library says %q", ref, at, u.Form, err, want)
		}
	})
}

// For hosts beyond ASCII, applying IDNA again changes nothing.
func TestHostsBeyondASCII(t *testing.T) {
	rules := newRules(t)
	letter := rapid.OneOf(
		rapid.SampledFrom([]rune("aZ0-_.。．ßς\u200d\u200c\u00adİıſK１ａⓐ≠⁄℀\u0301\u0644\u05d0xn")),
		rapid.Rune(),
		rapid.RuneFrom(nil, unicode.Latin, unicode.Arabic, unicode.Hebrew, unicode.Devanagari, unicode.Han),
	)
	rapid.Check(t, func(rt *rapid.T) {
		host := rapid.SampledFrom([]string{"", "www.", "xn--", "a."}).Draw(rt, "start") +
			rapid.StringOfN(letter, 1, 6, -1).Draw(rt, "host")
		u, err := rules.Parse("https://" + host)
		if err != nil {
			return
		}
		checkLaws(t, rules, u)
		if t.Failed() {
			rt.FailNow()
		}
		for i := range len(u.Host()) {
			if u.Host()[i] >= 0x80 {
				rt.Fatalf("%q gives host %q", host, u.Host())
			}
		}
	})
}

// Only the queries of references are in the encoding of their page.
func TestEncoded(t *testing.T) {
	rules := newRules(t)
	page, err := rules.Base("https://example.com/é?é")
	if err != nil {
		t.Fatal(err)
	}
	base := page.Encoded(func(query string) string {
		return strings.ReplaceAll(strings.ReplaceAll(query, "é", "\xe9"), "日", "%26%2326085%3B")
	})
	with, err := base.With("/dir/?é")
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		base      *weburl.Base
		ref, form string
	}{
		{base, "?q=é'<日&b", "https://example.com/%C3%A9?q=%E9%27%3C%26%2326085%3B&b"},
		{base, "https://é.example/é?é#é", "https://xn--9ca.example/%C3%A9?%E9"},
		{base, "#é", "https://example.com/%C3%A9?%C3%A9"},
		{base, "", "https://example.com/%C3%A9?%C3%A9"},
		{base, "?%c3%a9+~", "https://example.com/%C3%A9?%c3%a9+~"},
		{base, "?utm_é=1&utm=\\", "https://example.com/%C3%A9?utm=\\"},
		{with, "", "https://example.com/dir/?%E9"},
		{with, "a?é", "https://example.com/dir/a?%E9"},
		{page, "?é", "https://example.com/%C3%A9?%C3%A9"},
	}
	for _, tt := range tests {
		u, err := tt.base.Parse(tt.ref)
		if err != nil || u.Form != tt.form {
			t.Errorf("%q = %q, %v; want %q", tt.ref, u.Form, err, tt.form)
			continue
		}
		checkLaws(t, rules, u)
	}
}
