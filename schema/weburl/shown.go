package weburl

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/bidi"
)

// Shown is a host, or a text that begins with one, such as a URL, as a person is shown it: itself, and behind it in
// parentheses the host as it reads. Identities, files and programs keep the host itself.
func Shown(name string) string { return name + Reading(name) }

// ShownIfOther is [Shown] where that differs from the name; empty: it does not.
func ShownIfOther(name string) string {
	if reading := Reading(name); reading != "" {
		return name + reading
	}
	return ""
}

// Reading is what [Shown] has behind a name, with a space before it: for names that are cut or escaped themselves. It
// is empty where the host has no A-label, and where one decodes to what must not be shown. Different hosts can read
// the same, so it is only shown beside the name. A label of several scripts is marked, since hardly any language is
// written so (UTS 39 section 5.2, "highly restrictive").
func Reading(name string) string {
	if !strings.Contains(name, acePrefix) {
		return ""
	}
	host, _ := Split(name)
	host = strings.TrimPrefix(host, "*.")
	reading := Unicode(host)
	if reading == host || strings.ContainsFunc(reading, neverShown) {
		return ""
	}
	decoded, port := SplitPort(reading)
	if ascii, err := toASCII(decoded); err != nil || ascii+port != host {
		return ""
	}
	if strings.ContainsFunc(decoded, toTheLeft) {
		reading += "\u200e" // the left-to-right mark keeps the text behind it in its order
	}
	if slices.ContainsFunc(strings.Split(decoded, "."), mixesScripts) {
		reading += ", mixed scripts"
	}
	return " (" + reading + ")"
}

// toTheLeft reports what is written from right to left.
func toTheLeft(r rune) bool {
	p, _ := bidi.LookupRune(r)
	return p.Class() == bidi.R || p.Class() == bidi.AL || p.Class() == bidi.AN
}

// neverShown reports what is neither written in words nor a mark of a host: it could hide, move or imitate other text.
func neverShown(r rune) bool {
	const signs = "-_.:\u200c\u200d\u00b7\u0375\u05f3\u05f4\u0f0b\u30fb" // with those of RFC 5892 section 2.6
	const blank = '\u2800'                                               // of Braille
	if r < utf8.RuneSelf {
		return !isLowerAlnum(r) && !strings.ContainsRune(signs, r)
	}
	return r == blank || !unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.So) && !strings.ContainsRune(signs, r)
}

func isLowerAlnum(r rune) bool { return 'a' <= r && r <= 'z' || '0' <= r && r <= '9' }

// mixesScripts reports a label of several scripts, other than those that Chinese, Japanese and Korean are written with.
func mixesScripts(label string) bool {
	met := map[string]bool{}
	for _, r := range label {
		if name := script(r); name != "" {
			met[name] = true
		}
	}
	if len(met) < 2 {
		return false
	}
	for _, together := range [][]string{
		{"Latin", "Han", "Hiragana", "Katakana"}, {"Latin", "Han", "Bopomofo"}, {"Latin", "Han", "Hangul"},
	} {
		n := 0
		for _, name := range together {
			if met[name] {
				n++
			}
		}
		if n == len(met) {
			return false
		}
	}
	return true
}

// script is the script that a character belongs to; empty: several, or none.
func script(r rune) string {
	if r < utf8.RuneSelf {
		if 'a' <= r && r <= 'z' {
			return "Latin"
		}
		return ""
	}
	for name, table := range unicode.Scripts {
		if unicode.Is(table, r) {
			if name == "Common" || name == "Inherited" {
				return ""
			}
			return name
		}
	}
	return ""
}
