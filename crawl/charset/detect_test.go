package charset

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestOfHTML(t *testing.T) {
	space := func(n int) string { return strings.Repeat(" ", n) }
	tests := []struct{ name, in, label, want string }{
		{"nothing", "", "", "windows-1252"},
		{"ASCII", "a", "", "windows-1252"},
		{"undeclared UTF-8", "é", "", "utf-8"},
		{"undeclared bytes", "\xe9", "", "windows-1252"},
		{"label", "é", "koi8-r", "koi8-r"},
		{"label with blanks", "é", "\tKOI8-R ", "koi8-r"},
		{"label of UTF-16", "a", "utf-16", "utf-16le"},
		{"label unknown", "<meta charset=koi8-r>", "x-no", "koi8-r"},
		{"label in letters that only look so", "a", "\u212aoi8-r", "windows-1252"},
		{"byte order mark", "\ufeff<meta charset=koi8-r>", "big5", "utf-8"},
		{"byte order mark, little", "\xff\xfea\x00", "big5", "utf-16le"},
		{"byte order mark, big", "\xfe\xff\x00a", "big5", "utf-16be"},
		{"meta", "<p>a<META\tCHARSET = 'KOI8-R' >", "", "koi8-r"},
		{"meta before label", "<meta charset=koi8-r>", "big5", "big5"},
		{"meta of UTF-16", "<meta charset=utf-16be>", "", "utf-8"},
		{"meta of x-user-defined", "<meta charset=x-user-defined>", "", "windows-1252"},
		{"label of x-user-defined", "a", "x-user-defined", "x-user-defined"},
		{"meta unknown, then known", "<meta charset=x-no><meta charset=koi8-r>", "", "koi8-r"},
		{"meta in a comment", "<!-- <meta charset=big5> --><meta charset=koi8-r>", "", "koi8-r"},
		{"short comment", "<!--><meta charset=koi8-r>-->", "", "koi8-r"},
		{"comment not closed", "<!-- <meta charset=koi8-r>", "", "windows-1252"},
		{"meta in an attribute", "<p title='<meta charset=big5>'><meta charset=koi8-r>", "", "koi8-r"},
		{"meta in a script", "<script><meta charset=koi8-r></script>", "", "koi8-r"},
		{"meta in a doctype", "<!doctype <meta charset=big5><meta charset=koi8-r>", "", "koi8-r"},
		{"metal", "<metal charset=big5><meta/charset=koi8-r>", "", "koi8-r"},
		{"pragma", "<meta http-equiv=Content-Type content='text/html; charset = koi8-r'>", "", "koi8-r"},
		{"pragma behind", "<meta content='text/html; charset=koi8-r;x' http-equiv='content-type'>", "", "koi8-r"},
		{"no pragma", "<meta content='charset=koi8-r'>", "", "windows-1252"},
		{"quotes in pragma", "<meta http-equiv=content-type content='charset=\"koi8-r\"'>", "", "koi8-r"},
		{"quote not closed in pragma", "<meta http-equiv=content-type content='charset=\"koi8-r'>", "", "windows-1252"},
		{"second charset in pragma", "<meta http-equiv=content-type content='charset charset=koi8-r'>", "", "koi8-r"},
		{"charset before pragma", "<meta http-equiv=content-type content='charset=big5' charset=koi8-r>", "", "koi8-r"},
		{"unknown charset and pragma", "<meta charset=x http-equiv=content-type content='charset=big5'>", "",
			"windows-1252"},
		{"first attribute counts", "<meta charset=koi8-r charset=big5>", "", "koi8-r"},
		{"cut off tag", "<meta charset=koi8-r", "", "windows-1252"},
		{"end at 1,024 bytes", space(1024-len("<meta charset=koi8-r>")) + "<meta charset=koi8-r>", "", "koi8-r"},
		{"end beyond 1,024 bytes", space(1025-len("<meta charset=koi8-r>")) + "<meta charset=koi8-r>", "", "koi8-r"},
		{"beyond 1,024 bytes, with ASCII that is none", space(1024) + "<meta charset=iso-2022-jp>\x1b$BF|\x1b(B", "",
			"iso-2022-jp"},
		{"beyond 1,024 bytes, of UTF-8", space(1024) + "<meta charset=koi8-r>é", "", "utf-8"},
		{"beyond 1,024 bytes, of a label", space(1024) + "<meta charset=koi8-r>", "big5", "big5"},
		{"beyond 1,024 bytes in a script", space(1024) + "<SCRIPT a>'</b><meta charset=big5>'</script >" +
			"<scripts><meta charset=koi8-r></scripts><meta charset=big5>", "", "koi8-r"},
		{"beyond 1,024 bytes in a title", space(1024) + "<title><meta charset=koi8-r>", "", "windows-1252"},
		{"beyond 1,024 bytes, unknown", space(1024) + "<meta charset=x-no><title></title><meta charset=koi8-r>\xe9", "",
			"koi8-r"},
		{"declaration", `<?xml version="1.0" encoding="koi8-r"?>`, "", "koi8-r"},
		{"declaration, odd", "<?xmlencoding \x01=\n'KOI8-R'>", "", "koi8-r"},
		{"declaration and meta", `<?xml version="1.0" encoding="big5"?><meta charset=koi8-r>`, "", "koi8-r"},
		{"declaration and meta without use", `<?xml encoding="koi8-r"?><meta charset=x-no>`, "", "koi8-r"},
		{"declaration of UTF-8, one byte is not", `<?xml encoding="UTF-8"?>` + "\xe9é", "", "utf-8"},
		{"meta of UTF-8, one byte is not", "\xe9<meta charset=utf8>é", "", "utf-8"},
		{"declaration of UTF-16", `<?xml encoding="utf-16"?>`, "", "utf-8"},
		{"declaration in UTF-16", "<\x00?\x00x\x00m\x00", "", "utf-16le"},
		{"declaration in UTF-16, big", "\x00<\x00?\x00x\x00m", "", "utf-16be"},
		{"declaration of x-user-defined", `<?xml encoding="x-user-defined"?>`, "", "windows-1252"},
		{"declaration not at the start", ` <?xml encoding="koi8-r"?>`, "", "windows-1252"},
		{"declaration not closed", `<?xml encoding="koi8-r"`, "", "windows-1252"},
		{"encoding behind the declaration", `<?xml?> encoding="koi8-r">`, "", "windows-1252"},
		{"declaration with a blank in the label", `<?xml encoding=" koi8-r"?>`, "", "windows-1252"},
		{"declaration without quotes", `<?xml encoding=koi8-r?>`, "", "windows-1252"},
		{"declaration with two kinds of quotes", `<?xml encoding="koi8-r'?>`, "", "windows-1252"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := OfHTML([]byte(tt.in), tt.label).Name(); got != tt.want {
				t.Errorf("%q, label %q: %s, want %s", tt.in, tt.label, got, tt.want)
			}
		})
	}
}

func TestOfXML(t *testing.T) {
	tests := []struct{ name, in, label, want string }{
		{"nothing", "", "", "utf-8"},
		{"label", "a", "koi8-r", "koi8-r"},
		{"declaration", `<?xml version="1.0" encoding="koi8-r"?>`, "", "koi8-r"},
		{"declaration and label", `<?xml version="1.0" encoding="koi8-r"?>`, "big5", "big5"},
		{"byte order mark", "\ufeff" + `<?xml version="1.0" encoding="koi8-r"?>`, "", "utf-8"},
		{"meta says nothing", `<?xml version="1.0" encoding="koi8-r"?><meta charset="big5"/>`, "", "koi8-r"},
		{"UTF-8 whatever meta says", `<meta charset="koi8-r"/>é`, "", "utf-8"},
		{"no XML", `<meta charset="koi8-r"/>` + "\xe9", "", "koi8-r"},
		{"nothing declared, one byte is not UTF-8", `<?xml version="1.0"?>` + "\xe9é", "", "utf-8"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := OfXML([]byte(tt.in), tt.label).Name(); got != tt.want {
				t.Errorf("%q, label %q: %s, want %s", tt.in, tt.label, got, tt.want)
			}
		})
	}
}

func TestDecode(t *testing.T) {
	tests := []struct{ charset, in, want string }{
		{"utf-8", "\ufeffé", "é"},
		{"utf-8", "\xffa\xff\xffb", "\ufffda\ufffd\ufffdb"},
		{"utf-8", "\xe2\x82a\xf0\x9f\x98\xe2\x82", "\ufffda\ufffd\ufffd"},
		{"utf-8", "\xed\xa0\x80\xc0\xaf\xf4\x90", "\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd"},
		{"utf-16le", "\xff\xfea\x00\x00\xd8b\x00", "a\ufffdb"},
		{"windows-1252", "\x80\x81\xe9", "€\u0081é"},
		{"windows-1251", "\x98\xff", "\u0098я"},
		{"windows-1253", "\x81\xaa", "\u0081\ufffd"},
		{"iso-8859-2", "\x80\xbf", "\u0080ż"},
		{"gbk", "\x80\xd6\xd0\x84\x31\xa4\x37\x94\x39\xfc\x36", "€中\ufffd\U0001f600"},
		{"big5", "\x88\x62\xa4\xa4\x81 ", "\u00ca\u0304中\ufffd "},
		{"replacement", "abc", "\ufffd"},
	}
	for _, tt := range tests {
		if got := string(named(tt.charset).Decode([]byte(tt.in))); got != tt.want {
			t.Errorf("%s: %q = %+q, want %+q", tt.charset, tt.in, got, tt.want)
		}
	}
}

// FuzzOfHTML: there is always an encoding, the decoded text is valid and bounded, and a <meta> after the
// first 1,024 bytes changes neither an earlier declaration nor UTF-8, only a guess.
func FuzzOfHTML(f *testing.F) {
	for _, s := range []string{
		"<meta charset=koi8-r>", `<?xml encoding='big5'?>`, "<!--<meta http-equiv content=charset='x'>", "\xff\xfe",
		"</a b='c", "\xde",
	} {
		f.Add([]byte(s), "")
	}
	f.Fuzz(func(t *testing.T, body []byte, label string) {
		for _, e := range []Encoding{OfHTML(body, label), OfXML(body, label)} {
			text := e.Decode(body)
			if e.Name() == "" || !utf8.Valid(text) || len(text) > 3*len(body) {
				t.Fatalf("%q, %q: %q, %q", body, label, e.Name(), text)
			}
		}
		head := append(bytes.Clone(body[:min(len(body), prologue)]), bytes.Repeat([]byte{' '}, prologue)...)
		a, b := OfHTML(head, label), OfHTML(append(head, "<meta charset=big5>"...), label)
		_, labelled := told(head, label)
		_, declared := ofDeclaration(head)
		_, inMeta := ofMeta(head)
		guessed := !labelled && !declared && !inMeta && (isASCII(head) || !utf8.Valid(head))
		if !guessed && a.Name() != b.Name() {
			t.Errorf("%q, %q: %s, %s", body, label, a.Name(), b.Name())
		}
	})
}
