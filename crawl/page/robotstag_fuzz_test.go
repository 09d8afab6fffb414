package page

import (
	"strings"
	"testing"
)

// FuzzRobotsTag checks that case, repetition and the order of headers do not matter.
func FuzzRobotsTag(f *testing.F) {
	for _, v := range []string{"noindex", "none", "testbot: noindex, nofollow", "other: noindex",
		"unavailable_after: 25 Jun 2030 15:00:00 PST", ":,:", "TestBot:NOARCHIVE"} {
		f.Add(v, "nofollow")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		const agent = "TestBot"
		first := ParseRobotsTag([]string{a}, agent)
		if ascii(a) {
			if upper := ParseRobotsTag([]string{strings.ToUpper(a)}, agent); upper != first {
				t.Errorf("%q: %+v; in upper case %+v", a, first, upper)
			}
		}
		if twice := ParseRobotsTag([]string{a, a}, agent); twice != first {
			t.Errorf("%q: %+v; twice %+v", a, first, twice)
		}
		if one, other := ParseRobotsTag([]string{a, b}, agent), ParseRobotsTag([]string{b, a}, agent); one != other {
			t.Errorf("%q and %q: %+v; the other way round %+v", a, b, one, other)
		}
	})
}

func ascii(s string) bool { return strings.IndexFunc(s, func(r rune) bool { return r > 127 }) < 0 }
