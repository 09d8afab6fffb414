package page

import (
	"net/http"
	"strings"
	"testing"
)

// FuzzRobotsTag checks that case, repetition and the order of headers do not matter.
func FuzzRobotsTag(f *testing.F) {
	for _, v := range []string{"noindex", "none", "testbot: noindex, nofollow", "other: noindex",
		"unavailable_after: 25 Jun 2030 15:00:00 PST", ":,:", "TestBot:NOARCHIVE", "*;nosnippet, TestBot;noindex",
		"*;max-snippet=0", `("a" b);none`} {
		f.Add(v, "nofollow")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		const agent = "TestBot"
		read := func(values ...string) RobotsTag {
			return HeaderRobotsTag(http.Header{"X-Robots-Tag": values, "Robots-Tag": values}, agent)
		}
		first := read(a)
		if ascii(a) {
			if upper := read(strings.ToUpper(a)); upper != first {
				t.Errorf("%q: %+v; in upper case %+v", a, first, upper)
			}
		}
		if twice := read(a, a); twice != first {
			t.Errorf("%q: %+v; twice %+v", a, first, twice)
		}
		if both := read(a, b); both != first.And(read(b)) {
			t.Errorf("%q and %q: %+v, not the union", a, b, both)
		}
		if one, other := read(a, b), read(b, a); one != other {
			t.Errorf("%q and %q: %+v; the other way round %+v", a, b, one, other)
		}
	})
}

func ascii(s string) bool { return strings.IndexFunc(s, func(r rune) bool { return r > 127 }) < 0 }
