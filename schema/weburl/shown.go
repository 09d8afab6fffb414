package weburl

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/bidi"
)

// ShownIfOther returns a host, or a text that begins with one, as it is shown to people: followed by the
// decoded host in parentheses. It returns "" if there is nothing to add. Identities, files and programs use
// the host itself.
func ShownIfOther(name string) string {
	if reading := Reading(name); reading != "" {
		return name + reading
	}
	return ""
}

// Reading returns what [ShownIfOther] appends to a name, with a leading space, for callers that cut or escape
// the name themselves. It is empty if the host has no A-label, or if one decodes to something that must
// not be shown. Different hosts can read the same, so it is shown only together with the name. A label
// with several scripts is marked, because hardly any language is written that way (UTS 39 section 5.2,
// "highly restrictive").
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
		reading += "\u200e" // the left-to-right mark keeps the following text in order
	}
	if slices.ContainsFunc(strings.Split(decoded, "."), mixesScripts) {
		reading += ", mixed scripts"
	}
	return " (" + reading + ")"
}

// toTheLeft reports a character that is written from right to left.
func toTheLeft(r rune) bool {
	p, _ := bidi.LookupRune(r)
	return p.Class() == bidi.R || p.Class() == bidi.AL || p.Class() == bidi.AN
}

// neverShown reports a character that is neither used to write words nor a sign in hosts. It could
// hide, move or imitate other text.
func neverShown(r rune) bool {
	const signs = "-_.:\u200c\u200d\u00b7\u0375\u05f3\u05f4\u0f0b\u30fb" // with those of RFC 5892 section 2.6
	const blank = '\u2800'                                               // the Braille blank
	if r < utf8.RuneSelf {
		return !isLowerAlnum(r) && !strings.ContainsRune(signs, r)
	}
	return r == blank || !unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.So) && !strings.ContainsRune(signs, r)
}

func isLowerAlnum(r rune) bool { return 'a' <= r && r <= 'z' || '0' <= r && r <= '9' }

// mixesScripts reports a label with several scripts, other than the combinations used for Chinese,
// Japanese and Korean.
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

// script returns the script of a character, or "" if it belongs to several or none.
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
