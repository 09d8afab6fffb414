package charset

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// ruled returns the encoding of a text found by a rule, because the library does not know it or mistakes
// short texts in it for others; empty: none. latin reports that the text is in the Latin script.
func ruled(text []byte, latin bool) string {
	switch {
	case isNearlyUTF8(text):
		return utf8Name
	case !latin && isThai(text):
		return "windows-874"
	case !latin && isDOS(text):
		return "ibm866"
	case !latin:
		return ""
	case isCentral(text):
		if bytes.ContainsAny(single(text), "\u00b1\u00b6\u00bc") && !bytes.ContainsFunc(single(text), isC1) {
			return "iso-8859-2"
		}
		return "windows-1250"
	case isBaltic(text):
		return "windows-1257"
	}
	return ""
}

// single decodes bytes as ISO-8859-1, in which each is the character of the same number.
func single(text []byte) []byte {
	runes := make([]rune, len(text))
	for i, c := range text {
		runes[i] = rune(c)
	}
	return []byte(string(runes))
}

func isC1(c rune) bool { return 0x80 <= c && c < 0xa0 }

// isNoArabicISO reports a byte without meaning in ISO-8859-6.
func isNoArabicISO(c rune) bool {
	return isC1(c) || 0xa1 <= c && c <= 0xc0 && !strings.ContainsRune("\u00a4\u00ac\u00ad\u00bb\u00bf", c) ||
		0xdb <= c && c <= 0xdf || c >= 0xf3
}

// isNearlyUTF8 reports UTF-8 with few errors, such as a text cut within a character.
func isNearlyUTF8(text []byte) bool {
	valid, wrong := 0, 0
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		switch {
		case r == utf8.RuneError && n == 1:
			wrong++
		case n > 1:
			valid++
		}
		text = text[n:]
	}
	return valid >= 4 && valid >= 4*wrong
}

// isLatin reports a text whose words with non-ASCII bytes consist of ASCII letters at least by half.
func isLatin(text []byte) bool {
	high, all := 0, 0
	for _, word := range bytes.FieldsFunc(single(text), func(c rune) bool { return c < 0x80 && !isLetter(c) }) {
		n := 0
		for _, c := range string(word) {
			if c >= 0x80 {
				n++
			}
		}
		if n > 0 {
			high, all = high+n, all+utf8.RuneCount(word)
		}
	}
	return high*2 <= all
}

func isLetter(c rune) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// isOfLatin reports an encoding for languages in the Latin script.
func isOfLatin(name string) bool {
	switch name {
	case "windows-1250", "windows-1252", "windows-1254", "windows-1257", "windows-1258", "iso-8859-2", "iso-8859-3",
		"iso-8859-4", "iso-8859-10", "iso-8859-13", "iso-8859-14", "iso-8859-15", "iso-8859-16", "macintosh":
		return true
	}
	return false
}

// isDOS reports a text in IBM866: Russian small letters are frequent in both of its ranges for them.
func isDOS(text []byte) bool {
	var seen [16]bool
	front, back, capital, other, kinds := 0, 0, 0, 0, 0
	for _, c := range text {
		switch {
		case c < 0x80:
		case c < 0xa0:
			capital++
		case c < 0xb0:
			if front++; !seen[c-0xa0] {
				seen[c-0xa0] = true
				kinds++
			}
		case 0xe0 <= c && c <= 0xf1:
			back++
		default:
			other++
		}
	}
	letters := front + back
	return kinds >= 4 && back > 0 && front*3 >= letters && capital*2 <= letters && other*20 <= letters
}

// isCentral reports a text in the Latin script that has bytes inside words that are not letters in
// windows-1252, or the s and z with caron of windows-1250 together with its c.
func isCentral(text []byte) bool {
	caron, c := 0, 0
	for i, b := range text {
		switch b {
		case 0x9d, 0xb1, 0xb3, 0xb6, 0xb9, 0xbc, 0xbe, 0xbf:
			if i > 0 && isWordByte(text[i-1]) && i+1 < len(text) && isWordByte(text[i+1]) {
				return true
			}
		case 0x8a, 0x8e, 0x9a, 0x9e:
			caron++
		case 0xc8, 0xe8:
			c++
		}
	}
	return c > 0 && caron*4 >= c
}

func isWordByte(b byte) bool { return isLetter(rune(b)) || b >= 0xc0 }

// isBaltic reports a text whose non-ASCII letters are all letters of Lithuanian or of Latvian in
// windows-1257, including its s or z with caron and a letter that distinguishes it from other languages.
func isBaltic(text []byte) bool {
	const lithuanian, latvian = "\u00e0\u00e1\u00e6\u00e8\u00eb\u00f0\u00f8\u00fb\u00fe",
		"\u00e2\u00e7\u00e8\u00ec\u00ed\u00ee\u00ef\u00f0\u00f2\u00fb\u00fe"
	letters := strings.Map(func(c rune) rune {
		if c < 0xc0 || c == 0xd7 || c == 0xf7 {
			return -1
		}
		return c | 0x20
	}, string(single(text)))
	only := func(alphabet string) bool { return strings.Trim(letters, alphabet) == "" }
	return strings.ContainsAny(letters, "\u00f0\u00fe") &&
		(only(lithuanian) && strings.ContainsAny(letters, "\u00e0\u00eb\u00fb") ||
			only(latvian) && strings.ContainsAny(letters, "\u00e2\u00ee\u00f2\u00fb"))
}
