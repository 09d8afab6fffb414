package charset

import (
	"bytes"
	"strings"

	"github.com/gogs/chardet"
)

const (
	maxGuessed = 64 << 10 // bytes of a page that are examined
	leastSure  = 10       // percent; a guess below this is ignored
)

// guess returns the encoding of a page that declares none and is not UTF-8, from its bytes alone.
func guess(body []byte) Encoding {
	text := guessed(body)
	latin := isLatin(text)
	if name := ruled(text, latin); name != "" {
		return named(name)
	}
	best, sure := "", leastSure-1
	all, _ := chardet.NewHtmlDetector().DetectAll(text)
	for _, r := range all { // not strictly in order of confidence
		if r.Confidence > sure || r.Confidence == sure && r.Charset < best {
			if e, ok := guessable(r.Charset, text); ok && (!latin || isOfLatin(e.name)) {
				best, sure = r.Charset, r.Confidence
			}
		}
	}
	if e, ok := guessable(best, text); ok {
		return e
	}
	return named("windows-1252")
}

// guessed returns the part of a page that is examined: from the tag before the first non-ASCII byte.
func guessed(body []byte) []byte {
	first := bytes.IndexFunc(body, func(c rune) bool { return c >= 0x80 }) // including bytes that are not UTF-8
	if first > 0 {
		body = body[max(0, bytes.LastIndexByte(body[:first], '<')):]
	}
	return body[:min(len(body), maxGuessed)]
}

// guessable returns the encoding for a guess, if pages use it without declaring it. Of an ISO encoding and
// its close Windows relative, the result is the latter, unless the bytes in which they differ show otherwise.
func guessable(name string, text []byte) (Encoding, bool) {
	name = strings.ReplaceAll(strings.ToLower(name), "gb-18030", gb18030Name)
	windows := false
	for i := 0; i < len(text) && !windows; i++ {
		windows = text[i] >= 0x80 && text[i] < 0xa0
	}
	switch name {
	case "iso-8859-2":
		if windows {
			name = "windows-1250"
		}
	case "iso-8859-6":
		if bytes.ContainsFunc(single(text), isNoArabicISO) {
			name = "windows-1256"
		}
	case "koi8-r":
		if bytes.ContainsAny(single(text), "\u00a4\u00a6\u00a7\u00ad\u00b4\u00b6\u00b7\u00bd") { // Ukrainian letters
			name = "koi8-u"
		}
	case "iso-8859-7":
		if windows || !bytes.Contains(text, []byte{0xb6}) {
			name = "windows-1253"
		}
	case "iso-8859-8", "iso-8859-8-i":
		name = "windows-1255"
	}
	e, ok := Lookup(name)
	return e, ok && e.name != replacement && e.name != iso2022JPName && !strings.HasPrefix(e.name, "utf-")
}

// isThai reports a text in windows-874, which the library does not know: signs above and below letters are
// frequent, and each follows a letter.
func isThai(text []byte) bool {
	letters, signs := 0, 0
	for i, c := range text {
		switch {
		case c < 0x80, c == 0x85, 0x91 <= c && c <= 0x97, c == 0xa0:
		case c == 0xd1, 0xd4 <= c && c <= 0xda, 0xe7 <= c && c <= 0xee:
			if i == 0 || !carriesSign(text[i-1]) {
				return false
			}
			signs++
		case 0xa1 <= c && c <= 0xfb && (c <= 0xda || c >= 0xdf):
			letters++
		default:
			return false
		}
	}
	return letters >= 4 && signs*8 > letters && !isPaired(text)
}

// isPaired reports a text whose non-ASCII bytes all come in pairs, most of which begin like Korean syllables
// or the frequent characters of Chinese and Japanese.
func isPaired(text []byte) bool {
	pairs, frequent := 0, 0
	for i := 0; i < len(text); i++ {
		if text[i] < 0x80 {
			continue
		}
		if i+1 == len(text) || text[i+1] < 0x80 {
			return false
		}
		if c := text[i]; c == 0xa4 || c == 0xa5 || 0xb0 <= c && c <= 0xd7 {
			frequent++
		}
		pairs++
		i++
	}
	return frequent*10 >= pairs*9
}

// carriesSign reports a consonant of windows-874, or a vowel above or below one.
func carriesSign(c byte) bool {
	return 0xa1 <= c && c <= 0xce || c == 0xd1 || 0xd4 <= c && c <= 0xd9
}
