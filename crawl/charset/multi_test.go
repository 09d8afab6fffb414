package charset

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// Each error of a decoder is one U+FFFD, and consumes no ASCII byte.
func TestErrors(t *testing.T) {
	tests := []struct{ name, charset, in, want string }{
		{"lead without trail", "gbk", "\x81\xff\xd6\xd0", "\ufffd中"},
		{"ASCII for a trail", "gbk", "\x81\x20\x81\x7f\x81<a>", "\ufffd \ufffd\x7f\ufffd<a>"},
		{"no lead", "gbk", "\xff\xffa", "\ufffd\ufffda"},
		{"lead at the end", "gbk", "\xd6\xd0\xd6", "中\ufffd"},
		{"third byte wrong", "gb18030", "\x81\x30\x20\x81\x30\xff", "\ufffd0 \ufffd0\ufffd"},
		{"fourth byte wrong", "gb18030", "\x81\x30\x81\x40", "\ufffd0丂"},
		{"second byte behind the digits", "gb18030", "\x81\x3a\x82\x35", "\ufffd:\ufffd"},
		{"cut off at two", "gb18030", "a\x81\x30", "a\ufffd"},
		{"cut off at three", "gb18030", "a\x81\x30\x81", "a\ufffd"},
		{"four bytes for nothing", "gb18030", "\x84\x31\xa5\x30\xfe\x39\xfe\x39a", "\ufffd\ufffda"},
		{"four bytes for U+FFFD", "gb18030", "\x84\x31\xa4\x37a", "\ufffda"},
		{"no byte order mark", "gb18030", "\x84\x31\x95\x33a", "\ufeffa"},
		{"four bytes beyond the plane", "gb18030", "\x90\x30\x81\x30\xe3\x32\x9a\x35", "\U00010000\U0010ffff"},
		{"the pairs of 2022", "gb18030", "\xa6\xd9\xa6\xda\xa6\xf3\xfe\x59\xfe\xa0", "\ufe10\ufe12\ufe19\u9fb4\u9fbb"},
		{"exchanged in 2005", "gbk", "\xa8\xbc\x81\x35\xf4\x37", "\u1e3f\ue7c7"},
		{"private use", "gbk", "\xaa\xa1\xaf\xfe\xf8\xa1\xfe\xfe", "\ue000\ue233\ue234\ue4c5"},
		{"private use", "gbk", "\xa1\x40\xa7\x80\xa7\xa0\xa2\xab\xfe\x91", "\ue4c6\ue745\ue765\ue766\ue855"},
		{"lead without trail", "big5", "\x81\xff\xa4\xa4\xa4\x80", "\ufffd中\ufffd"},
		{"ASCII for a trail", "big5", "\x81\x40\xa4\x20\xa4\x7f", "\ufffd@\ufffd \ufffd\x7f"},
		{"no lead", "big5", "\x80a\xffa\xa4", "\ufffda\ufffda\ufffd"},
		{"two characters", "big5", "\x88\x62\x88\x64\x88\xa3\x88\xa5\xff", "Ê\u0304Ê\u030cê\u0304ê\u030c\ufffd"},
		{"lead without trail", "shift_jis", "\x81\xff\x81\xfd\x95\x5c", "\ufffd\ufffd表"},
		{"ASCII for a trail", "shift_jis", "\x81\x20\x85\x41\x81\x7f", "\ufffd \ufffdA\ufffd\x7f"},
		{"no lead", "shift_jis", "\xa0a\xfda\x80\xb1\x81", "\ufffda\ufffda\u0080ｱ\ufffd"},
		{"private use", "shift_jis", "\xf0\x40\xf0\x7e\xf0\x80\xf9\xfc\xf9\xfd", "\ue000\ue03e\ue03f\ue757\ufffd"},
		{"lead without trail", "euc-kr", "\xa1\xff\xc7\xd1\xa1\x80", "\ufffd한\ufffd"},
		{"ASCII for a trail", "euc-kr", "\xc7\x41\xa1\x20\x81\x5b", "\ufffdA\ufffd \ufffd["},
		{"no lead", "euc-kr", "\x80a\xffa\xa1", "\ufffda\ufffda\ufffd"},
		{"lead without trail", "euc-jp", "\xa1\xff\xc9\xbd\xa1\x80", "\ufffd表\ufffd"},
		{"ASCII for a trail", "euc-jp", "\xa1\x41\x8eA\x8fA", "\ufffdA\ufffdA\ufffdA"},
		{"no katakana", "euc-jp", "\x8e\xe0\x8e\x8e\x8e\xb1\x8e", "\ufffd\ufffdｱ\ufffd"},
		{"three bytes", "euc-jp", "\x8f\xb0\xa1\x8f\xb0\x80\x8f\xb0A\x8f\x8f\x8f\xa1\xa1",
			"丂\ufffd\ufffdA\ufffd\ufffd"},
		{"cut off at one", "euc-jp", "a\x8f", "a\ufffd"},
		{"cut off at two", "euc-jp", "a\x8f\xb0", "a\ufffd"},
		{"no lead", "euc-jp", "\x80a\xa0a\xffa", "\ufffda\ufffda\ufffda"},
		{"states", "iso-2022-jp", "\\~\x1b(J\\~\x1b(I1\x1b$BF|\x1b$@K\\\x1b(B\\", "\\~¥‾ｱ日本\\"},
		{"unknown escapes", "iso-2022-jp", "\x1b(X\x1b$(D\x1b\x1b", "\ufffd(X\ufffd$(D\ufffd\ufffd"},
		{"escape cut off", "iso-2022-jp", "a\x1b$", "a\ufffd$"},
		{"escape behind an escape", "iso-2022-jp", "\x1b$B\x1b(Ba\x1b(B\x1b(J", "\ufffda\ufffd"},
		{"escape for a trail", "iso-2022-jp", "\x1b$BF\x1b(Ba", "\ufffda"},
		{"no trail", "iso-2022-jp", "\x1b$BF\nF|F", "\ufffd日\ufffd"},
		{"pair for nothing", "iso-2022-jp", "\x1b$B)!F|", "\ufffd日"},
		{"high and shift bytes", "iso-2022-jp", "a\x80\x0e\x0f\x1b(I\x20\x60", "a\ufffd\ufffd\ufffd\ufffd\ufffd"},
		{"maximal subparts", "utf-8", "\xe2\x82\xf0\x9f\x98\xf0\x9fa\xe0\x80", "\ufffd\ufffd\ufffda\ufffd\ufffd"},
		{"surrogates and beyond", "utf-8", "\xed\xa0\x80\xf4\x90\x80\x80\xf5", strings.Repeat("\ufffd", 8)},
		{"cut off", "utf-8", "a\xf0\x9f\x98", "a\ufffd"},
		{"lone surrogates", "utf-16le", "\x00\xd8a\x00\x00\xdca\x00\x00\xd8\x00\xd8\x00\xdc", "\ufffda\ufffda\ufffd𐀀"},
		{"lone surrogate, big", "utf-16be", "\xd8\x00\x00a\xd8\x3d\xde\x00", "\ufffda😀"},
		{"odd tail", "utf-16le", "a\x00b", "a\ufffd"},
		{"surrogate and odd tail", "utf-16le", "a\x00\x00\xd8b", "a\ufffd"},
		{"surrogate at the end", "utf-16be", "\x00a\xd8\x00", "a\ufffd"},
		{"nothing", "replacement", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.charset+" "+tt.name, func(t *testing.T) {
			if got := string(named(tt.charset).Decode([]byte(tt.in))); got != tt.want {
				t.Errorf("%q = %+q, want %+q", tt.in, got, tt.want)
			}
		})
	}
}

// The pairs in the tables of this package are encoded as they are decoded.
func TestPairs2022(t *testing.T) {
	n := 0
	for lead := 0x81; lead <= 0xfe; lead++ {
		for trail := 0x40; trail <= 0xfe; trail++ {
			r := pair2022(byte(lead), byte(trail))
			if r == 0 {
				continue
			}
			n++
			if got, want := code2022(r), rune(lead<<8|trail); got != want && r != '\ue5e5' {
				t.Errorf("%U is read from %x and written %x", r, want, got)
			}
		}
	}
	if n != 1894+174 {
		t.Errorf("%d pairs", n)
	}
}

// FuzzDecode: every decoder decodes everything, into valid text of bounded length, and agrees with the
// library on text that the library decodes without error, also with the decoder of this package.
func FuzzDecode(f *testing.F) {
	for i, s := range []string{
		"\x81\x30\x81\x30\xd6\xd0\x81:", "\xa4\xa4\x88\x62", "\x95\x5c\xb1\xf0\x40", "\xc7\xd1\xa1",
		"\xc9\xbd\x8e\xb1\x8f\xb0\xa1",
		"\x1b$BF|\x1b(Ba", "\xe2\x82a", "a\x00\x00\xd8", "\xd8\x3d\xde\x00", "abc",
	} {
		f.Add([]byte(s), byte(i))
	}
	names := []string{
		"gb18030", "big5", "shift_jis", "euc-kr", "euc-jp", "iso-2022-jp", "utf-8", "utf-16le", "utf-16be",
		"replacement", "gbk", "koi8-r",
	}
	f.Fuzz(func(t *testing.T, b []byte, label byte) {
		e := named(names[int(label)%len(names)])
		text := e.Decode(b)
		if !utf8.Valid(text) || len(text) > 3*len(b) {
			t.Fatalf("%s: % x = %q", e.Name(), b, text)
		}
		library, err := e.library().NewDecoder().String(string(b))
		if err != nil || strings.Contains(library, "\ufffd") || departs(e, b, library) {
			return
		}
		if !e.isMulti() {
			library = strings.TrimPrefix(library, "\ufeff")
		}
		if string(text) != library {
			t.Errorf("%s: % x = %q, the library's %q", e.Name(), b, text, library)
		}
		if e.isMulti() {
			if own := newSequences(e).decode(b); string(own) != library {
				t.Errorf("%s: % x = %q, the library's %q", e.Name(), b, own, library)
			}
		}
	})
}

// departs reports text that the library decodes without error, but not according to the standard.
func departs(e Encoding, b []byte, text string) bool {
	switch e.name {
	case iso2022JPName:
		return strings.Contains(string(b), "\x1b") || strings.ContainsAny(text, "\x0e\x0f")
	case gbkName, gb18030Name:
		return hasFalseQuadruple(b) || strings.Contains(text, "\u1e3f")
	}
	return e.isSingle()
}
