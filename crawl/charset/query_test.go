package charset

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestQuery(t *testing.T) {
	tests := []struct{ charset, in, want string }{
		{"windows-1251", "?q=пример", "?q=\xef\xf0\xe8\xec\xe5\xf0"},
		{"windows-1251", "日", "%26%2326085%3B"},
		{"windows-1251", "\U0001f600я", "%26%23128512%3B\xff"},
		{"windows-1252", "€é\u0081", "\x80\xe9\x81"},
		{"iso-8859-2", "ż", "\xbf"},
		{"koi8-u", "ї", "\xa7"},
		{"windows-874", "ก\ufffd", "\xa1%26%2365533%3B"},
		{"x-user-defined", "\uf7ffé", "\xff%26%23233%3B"},
		{"gbk", "中€\ue5e5\U0001f600", "\xd6\xd0\x80%26%2358853%3B%26%23128512%3B"},
		{"gb18030", "中€\ue5e5\U0001f600\ufffd", "\xd6\xd0\xa2\xe3%26%2358853%3B\x94\x39\xfc\x36\x84\x31\xa4\x37"},
		{"big5", "中═十㐵\u00ca\u0304", "\xa4\xa4\xf9\xf9\xa4\x51%26%2313365%3B%26%23202%3B%26%23772%3B"},
		{"euc-kr", "한글똠", "\xc7\xd1\xb1\xdb\x8c\x63"},
		{"shift_jis", "表\u0080¥‾−ｱ纊", "\x95\x5c\x80\\~\x81\x7c\xb1\xfa\x5c"},
		{"euc-jp", "表¥‾−ｱ丂纊", "\xc9\xbd\\~\xa1\xdd\x8e\xb1%26%2319970%3B\xf9\xa1"},
		{"iso-2022-jp", "日本", "\x1b$BF|K\\\x1b(B"},
		{"iso-2022-jp", "a日b本", "a\x1b$BF|\x1b(Bb\x1b$BK\\\x1b(B"},
		{"iso-2022-jp", "¥a\\~‾b", "\x1b(J\\a\x1b(B\\~\x1b(J~b\x1b(B"},
		{"iso-2022-jp", "¥日¥", "\x1b(J\\\x1b$BF|\x1b(J\\\x1b(B"},
		{"iso-2022-jp", "日€", "\x1b$BF|\x1b(B%26%238364%3B"},
		{"iso-2022-jp", "¥€", "\x1b(J\\%26%238364%3B\x1b(B"},
		{"iso-2022-jp", "ｱﾞ−丂", "\x1b$B%\"!+!]\x1b(B%26%2319970%3B"},
		{"iso-2022-jp", "\x1b日\x0e", "%26%2365533%3B\x1b$BF|\x1b(B%26%2365533%3B"},
	}
	for _, tt := range tests {
		t.Run(tt.charset, func(t *testing.T) {
			e, ok := Lookup(tt.charset)
			if !ok {
				t.Fatal("no such encoding")
			}
			if got := e.Query()(tt.in); got != tt.want {
				t.Errorf("%q = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
	for _, name := range []string{"utf-8", "utf-16le", "utf-16be", "replacement"} {
		if named(name).Query() != nil {
			t.Errorf("%s has queries of its own", name)
		}
	}
}

// Encoding inverts decoding: of all byte sequences for a character, the one named by the standard is used.
func TestEncodersFollowDecoders(t *testing.T) {
	for _, name := range []string{
		"big5", "euc-jp", "euc-kr", "gbk", "gb18030", "shift_jis", "windows-1258", "macintosh", "iso-8859-8-i",
		"ibm866",
	} {
		t.Run(name, func(t *testing.T) {
			e := named(name)
			want := pointers(e)
			w := writer{Encoding: e}
			wrong := 0
			for r := rune(0x80); r <= 0xffff; r++ {
				encoded, ok := w.encode(r)
				code, has := want[r]
				if got := string(encoded); (has || len(encoded) <= 2) && (ok != has || ok && got != code) &&
					!excepted(name, r) {
					if wrong++; wrong < 20 {
						t.Errorf("%U = % x, %t; want % x, %t", r, got, ok, code, has)
					}
				}
				if len(encoded) == 4 && string(e.Decode(encoded)) != string(r) {
					t.Errorf("%U = % x, which is read as %q", r, encoded, e.Decode(encoded))
				}
			}
			if wrong > 0 {
				t.Errorf("%d characters", wrong)
			}
		})
	}
}

// pointers maps each character to the first sequence of one or two bytes that decodes to it and may be used
// to encode it.
func pointers(e Encoding) map[rune]string {
	all := make(map[rune]string)
	add := func(code string, last bool) {
		text := e.Decode([]byte(code))
		r, size := utf8.DecodeRune(text)
		if r == utf8.RuneError || size != len(text) {
			return
		}
		if _, known := all[r]; !known || last && strings.ContainsRune("═╞╡╪十卅", r) {
			all[r] = code
		}
	}
	for c := 0x80; c <= 0xff; c++ {
		add(string([]byte{byte(c)}), false)
	}
	for lead := 0x81; lead <= 0xfe; lead++ {
		for trail := 0x30; trail <= 0xfe; trail++ {
			if mayBeWritten(e.name, lead) {
				add(string([]byte{byte(lead), byte(trail)}), e.name == "big5")
			}
		}
	}
	return all
}

// mayBeWritten excludes the rows that encoders must not use.
func mayBeWritten(name string, lead int) bool {
	switch name {
	case "big5":
		return lead >= 0xa1
	case "shift_jis":
		return lead != 0xed && lead != 0xee && (lead < 0xf0 || lead > 0xf9) // NEC's doubles, private use
	}
	return true
}

// excepted reports exceptions of the standard; TestQuery covers them.
func excepted(name string, r rune) bool {
	switch name {
	case "gbk", "gb18030":
		return r == '€' || r == '\ue5e5' || published(r) != r
	case "shift_jis", "euc-jp":
		return r == '¥' || r == '‾' || r == '−'
	}
	return false
}

func FuzzQuery(f *testing.F) {
	for i, s := range []string{"a日b¥", "\x1bя€", "\ufffd\ue796\u9fbb", "q=пример"} {
		f.Add(s, byte(i))
	}
	labels := []string{"iso-2022-jp", "shift_jis", "euc-jp", "gb18030", "big5", "euc-kr", "windows-1251"}
	f.Fuzz(func(t *testing.T, s string, label byte) {
		e := named(labels[int(label)%len(labels)])
		s = strings.ToValidUTF8(s, "")
		whole := e.Query()(s)
		if strings.Contains(whole, "%26%23") || strings.ContainsAny(s, "¥‾−\x0e\x0f\x1b%") ||
			strings.ContainsFunc(s, isHalfwidth) {
			return
		}
		if e.isChinese() {
			s = strings.Map(published, s)
		}
		if back := string(e.Decode([]byte(whole))); back != s {
			t.Errorf("%s: %q is written %q and read %q", e.Name(), s, whole, back)
		}
	})
}

func isHalfwidth(r rune) bool { return r >= 0xff61 && r <= 0xff9f }

func ExampleEncoding_Query() {
	e, _ := Lookup("windows-1251")
	fmt.Printf("%q\n", e.Query()("q=да и €, но не 日"))
	// Output: "q=\xe4\xe0 \xe8 \x88, \xed\xee \xed\xe5 %26%2326085%3B"
}
