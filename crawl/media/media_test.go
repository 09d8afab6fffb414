package media_test

import (
	"testing"

	"github.com/sumi-ripple/ripple/crawl/media"
)

func TestExtract(t *testing.T) {
	tests := []struct {
		name             string
		in               []string
		essence, charset string
	}{
		{"none", nil, "", ""},
		{"plain", []string{"text/html"}, "text/html", ""},
		{"charset", []string{"Text/HTML; Charset=Windows-1251"}, "text/html", "Windows-1251"},
		{"blanks", []string{"\t text/html \t;  charset=koi8-r  \r\n"}, "text/html", "koi8-r"},
		{"no blank", []string{"text/html;charset=koi8-r"}, "text/html", "koi8-r"},
		{"two semicolons", []string{"text/html;;charset=koi8-r"}, "text/html", "koi8-r"},
		{"semicolon at the end", []string{"text/html; charset=koi8-r;"}, "text/html", "koi8-r"},
		{"stray parameter", []string{"text/html; foo; =; a b=c; charset=koi8-r"}, "text/html", "koi8-r"},
		{"stray word after the type", []string{"text/html koi8-r; charset=koi8-r"}, "text/html", "koi8-r"},
		{"no semicolon", []string{"text/html charset=koi8-r"}, "text/html", ""},
		{"blanks around the slash", []string{"text / html"}, "", ""},
		{"quoted", []string{`text/html; charset="koi8-r"`}, "text/html", "koi8-r"},
		{"quote not closed", []string{`text/html; charset="koi8-r`}, "text/html", "koi8-r"},
		{"text behind the quote", []string{`text/html; charset="koi8-r"x; a=b`}, "text/html", "koi8-r"},
		{"escapes in quotes", []string{`text/html; charset="koi\8-\r\`}, "text/html", `koi8-r\`},
		{"semicolon in quotes", []string{`text/html; a="; charset=big5"; charset=koi8-r`}, "text/html", "koi8-r"},
		{"single quotes are no quotes", []string{"text/html; charset='koi8-r'"}, "text/html", "'koi8-r'"},
		{"blank before the equals sign", []string{"text/html; charset =big5; charset=koi8-r"}, "text/html", "koi8-r"},
		{"blank behind the equals sign", []string{"text/html; charset= koi8-r"}, "text/html", " koi8-r"},
		{"empty", []string{"text/html; charset=; charset=koi8-r"}, "text/html", "koi8-r"},
		{"empty in quotes", []string{`text/html; charset=""; charset=koi8-r`}, "text/html", ""},
		{"first of two", []string{"text/html; charset=koi8-r; charset=big5"}, "text/html", "koi8-r"},
		{"control character", []string{"text/html; charset=a\x01b; charset=koi8-r"}, "text/html", "koi8-r"},
		{"no type", []string{"; charset=koi8-r"}, "", ""},
		{"no subtype", []string{"text; charset=koi8-r"}, "", ""},
		{"empty subtype", []string{"text/ ; charset=koi8-r"}, "", ""},
		{"any type", []string{"*/*; charset=koi8-r"}, "", ""},
		{"unknown type", []string{"unknown/unknown"}, "", ""},
		{"unknown application", []string{"Application/Unknown; charset=koi8-r"}, "", ""},
		{"list, an unknown type is passed over", []string{"text/html, unknown/unknown"}, "text/html", ""},
		{"none", []string{"none"}, "", ""},
		{"list, the last type counts", []string{"text/plain; charset=big5, text/html; charset=koi8-r"}, "text/html",
			"koi8-r"},
		{"list, the charset of another type is lost", []string{"text/plain; charset=big5, text/html"}, "text/html", ""},
		{"list, the charset of the same type stays", []string{"text/html; charset=koi8-r, text/html"}, "text/html",
			"koi8-r"},
		{"list, the later charset counts", []string{"text/html; charset=big5, text/html; charset=koi8-r"}, "text/html",
			"koi8-r"},
		{"list, an empty charset is one", []string{`text/html; charset=koi8-r, text/html; charset=""`}, "text/html",
			""},
		{"list, the first charset comes back",
			[]string{"text/html; charset=koi8-r, text/html; charset=big5, text/html"}, "text/html", "koi8-r"},
		{"list, the first charset of the same type", []string{"text/html, text/html; charset=koi8-r, text/html"},
			"text/html", ""},
		{"list, what is no type is passed over", []string{"text/html; charset=koi8-r, */*, x, , text/html;a=b"},
			"text/html", "koi8-r"},
		{"comma in quotes", []string{`text/html; a=",", text/html; charset="koi8-r,"`}, "text/html", "koi8-r,"},
		{"quote not closed in a list", []string{`text/html; charset="koi8-r, text/plain`}, "text/html",
			"koi8-r, text/plain"},
		{"several fields", []string{"text/html; charset=koi8-r", "text/html"}, "text/html", "koi8-r"},
		{"several fields, another type", []string{"text/html; charset=koi8-r", "text/plain"}, "text/plain", ""},
		{"several fields, one empty", []string{"", "text/html; charset=koi8-r", ""}, "text/html", "koi8-r"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want := media.Type{Essence: tt.essence, Charset: tt.charset}
			if got := media.Extract(tt.in...); got != want {
				t.Errorf("Extract(%q) = %+v; want %+v", tt.in, got, want)
			}
		})
	}
}

func TestIsHTML(t *testing.T) {
	tests := []struct {
		in          string
		html, xhtml bool
	}{
		{"text/html", true, false}, {"application/xhtml+xml; charset=x", true, true}, {"text/htmlx", false, false},
		{"", false, false},
	}
	for _, tt := range tests {
		if got := media.Extract(tt.in); got.IsHTML() != tt.html || got.IsXHTML() != tt.xhtml {
			t.Errorf("%q: %t, %t; want %t, %t", tt.in, got.IsHTML(), got.IsXHTML(), tt.html, tt.xhtml)
		}
	}
}

// FuzzExtract: formatting and parsing a type is lossless, and repetition changes nothing.
func FuzzExtract(f *testing.F) {
	for _, s := range []string{"text/html; charset=utf-8", `a/b;;x="\",";charset="y`, "text/html, */*", "/;=", `"`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := media.Extract(s)
		if got.Essence == "" {
			if got != (media.Type{}) {
				t.Fatalf("%q: %+v", s, got)
			}
			return
		}
		plain := got.String()
		if again := media.Extract(plain); again != got {
			t.Errorf("%q: %+v, written %q: %+v", s, got, plain, again)
		}
		if twice := media.Extract(plain, plain); twice != got {
			t.Errorf("%q: %+v, said twice: %+v", s, got, twice)
		}
	})
}
