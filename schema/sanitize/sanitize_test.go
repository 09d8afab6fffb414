package sanitize_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sumi-ripple/ripple/schema/sanitize"
)

// most exceeds the length of every input in the table.
const most = 300

// targets returns all functions, with the text decoded as a reader would.
func targets() map[string]func(string) string {
	return map[string]func(string) string{
		"line":     func(s string) string { return sanitize.Line(s, most) },
		"text":     sanitize.Text,
		"sql":      sanitize.SQL,
		"markdown": func(s string) string { return sanitize.Markdown(s, most) },
		"xml":      func(s string) string { return string(sanitize.AppendXML(nil, s)) },
		"quoted":   func(s string) string { return string(sanitize.AppendQuoted(nil, s)) },
		"csv":      func(s string) string { return string(sanitize.AppendCell(nil, s)) },
		"json": func(s string) string {
			text, _ := json.Marshal(s) // strings always marshal
			return string(sanitize.JSON(text))
		},
	}
}

// Dangerous text passes through no target.
func TestHostile(t *testing.T) {
	inputs := []struct {
		name, in, gone string
		kept           []string // targets that it cannot harm
	}{
		{"escape", "a\x1b[31mb", "\x1b", nil},
		{"bell", "a\ab", "\a", nil},
		{"NUL", "a\x00b", "\x00", nil},
		{"delete", "a\x7fb", "\x7f", nil},
		{"C1 introducer", "a\u009b31mb", "\u009b", nil},
		{"raw C1", "a\x9b31mb", "\x9b", nil},
		{"line break", "a\r\nb", "\n", []string{"sql"}},
		{"tab", "a\tb", "\t", []string{"sql"}},
		{"vertical tab", "a\vb", "\v", []string{"sql"}},
		{"next line", "a\u0085b", "\u0085", []string{"sql"}},
		{"line separator", "a\u2028b", "\u2028", []string{"sql"}},
		{"embedding", "a\u202ab\u202bc", "\u202b", nil},
		{"pop", "a\u202cb", "\u202c", nil},
		{"left override", "a\u202db", "\u202d", nil},
		{"override", "a\u202egnp.exe", "\u202e", nil},
		{"isolate", "a\u2066b", "\u2066", nil},
		{"right isolate", "a\u2067b", "\u2067", nil},
		{"first strong isolate", "a\u2068b", "\u2068", nil},
		{"pop isolate", "a\u2069b", "\u2069", nil},
		{"annotation", "a\ufff9b", "\ufff9", nil},
		{"non-character", "a\ufffeb", "\ufffe", nil},
		{"non-character of a plane", "a\U0001ffffb", "\U0001ffff", nil},
		{"Arabic non-character", "a\ufdd0b", "\ufdd0", nil},
		{"bad byte", "a\xffb", "\xff", nil},
		{"half a pair", "a\xed\xa0\x80b", "\xed", nil},
	}
	for _, tt := range inputs {
		for name, target := range targets() {
			got := target(tt.in)
			if harmless := strings.Contains(strings.Join(tt.kept, " "), name); strings.Contains(got, tt.gone) != harmless {
				t.Errorf("%s in %s: %q becomes %q", tt.name, name, tt.in, got)
			}
			if !utf8.ValidString(got) || !strings.Contains(got, "a") {
				t.Errorf("%s in %s: %q becomes %q, which is bad or cut", tt.name, name, tt.in, got)
			}
		}
	}
}

// Ordinary text is unchanged by every target.
func TestHarmless(t *testing.T) {
	for _, s := range []string{
		"plain text", "می\u200cخواهم", "क्\u200dष", "👩\u200d👩\u200d👧 family",
		"🏴󠁧󠁢󠁳󠁣󠁴󠁿", "שלום", "日本語　空白", "café naïve",
		"soft\u00adhyphen", "\u200fא\u200e1\u061c", "ภาษา\u200bไทย", "a\ufeffb\u2060c", "50 % off",
	} {
		for name, target := range targets() {
			got := strings.Trim(target(s), `"`)
			want := s
			if name == "line" || name == "markdown" {
				want = strings.ReplaceAll(want, "\u3000", " ") // white space is folded
			}
			if got != want {
				t.Errorf("%s: %q becomes %q", name, s, got)
			}
		}
	}
}

func TestLine(t *testing.T) {
	tests := []struct {
		name, in string
		most     int
		want     string
	}{
		{"plain", "Not Found", 64, "Not Found"},
		{"empty", "", 8, ""},
		{"escape sequence", "a\x1b[31mred", 64, "a[31mred"},
		{"folded", "  a\n\t b  ", 64, "a b"},
		{"cut at a rune", "ééé", 3, "é"},
		{"cut before a space", "ab cd", 2, "ab"},
		{"bad bytes", "a\xffb", 64, "a\uFFFDb"},
	}
	for _, tt := range tests {
		if got := sanitize.Line(tt.in, tt.most); got != tt.want {
			t.Errorf("%s: Line(%q, %d) = %q; want %q", tt.name, tt.in, tt.most, got, tt.want)
		}
	}
}

func TestMarkdown(t *testing.T) {
	tests := []struct{ in, want string }{
		{"https://en.wikipedia.org/wiki/Web_crawler?a=b-c", "https://en.wikipedia.org/wiki/Web_crawler?a=b-c"},
		{"a|b", `a\|b`},
		{"`x`", "\\`x\\`"},
		{"](javascript:x)", `\]\(javascript:x)`},
		{"<script>", "&lt;script&gt;"},
		{"&lt;", "&amp;lt;"},
		{"_em_", `\_em\_`},
		{"# x", `\# x`},
		{"1. x", `1\. x`},
		{"12) x", `12\) x`},
		{"v1.2", "v1.2"},
		{"1.0", "1.0"},
		{"7.", `7\.`},
		{"a\nb\x1b", "a b"},
		{strings.Repeat("x", most+1), strings.Repeat("x", most) + "..."},
	}
	for _, tt := range tests {
		if got := sanitize.Markdown(tt.in, most); got != tt.want {
			t.Errorf("Markdown(%q) = %q; want %q", tt.in, got, tt.want)
		}
	}
}

func TestAppendCell(t *testing.T) {
	tests := map[string]string{
		"": "", "plain": "plain", "=1": "'=1", "+1": "'+1", "-1": "'-1", "@x": "'@x", "\t=1": "' =1", "a,b": `"a,b"`,
		`say "hi"`: `"say ""hi"""`, "a\r\nb": "a  b", " x": `" x"`, "  =1": "'  =1", "＝1": "'＝1", `"=1"`: `"'""=1"""`,
		"a=1": "a=1", "|x": "'|x", "\x00=1": "'\uFFFD=1", "\u200d=1": "'\u200d=1",
		"\u200b=1": "'\u200b=1", "\u200f=1": "'\u200f=1", "\ufeff=1": "'\ufeff=1",
		"\u2004+1": "'\u2004+1", "\u205f\u00ad=1": "'\u205f\u00ad=1",
	}
	for in, want := range tests {
		if got := string(sanitize.AppendCell(nil, in)); got != want {
			t.Errorf("AppendCell(%q) = %s; want %s", in, got, want)
		}
	}
}

func TestSQL(t *testing.T) {
	for in, want := range map[string]string{
		"User-agent: *\r\n\tDisallow:\n": "User-agent: *\r\n\tDisallow:\n",
		"a\x00b\xff\x1b":                 "a\uFFFDb\uFFFD\uFFFD",
	} {
		if got := sanitize.SQL(in); got != want {
			t.Errorf("SQL(%q) = %q; want %q", in, got, want)
		}
	}
}

func seeds(f *testing.F) {
	for _, s := range []string{
		"", "plain", "=1", "\xed\xa0\x80", "\uFFFE", "<&>\"'", "\\\"", "]]>", "a\x00\r\n\t", "\u202e c", "é😀", "\\",
		"[a](b) <b>|`*_\\`\x00", "\U0001fffe\u200d",
	} {
		f.Add(s)
	}
}

// FuzzIdempotent states that cleaning twice equals cleaning once, for targets whose output is valid
// input.
func FuzzIdempotent(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, s string) {
		all := targets()
		for _, name := range []string{"line", "text", "sql"} {
			got := all[name](s)
			if again := all[name](got); again != got || !utf8.ValidString(got) {
				t.Fatalf("%s: %q, then %q, then %q", name, s, got, again)
			}
		}
		if got := all["line"](s); len(got) > most || strings.ContainsAny(got, "\x00\n\r\x1b\u202e") {
			t.Fatalf("Line(%q) = %q", s, got)
		}
	})
}

// FuzzMarkdown states that no markup is left.
func FuzzMarkdown(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, s string) {
		got := sanitize.Markdown(s, most)
		if !utf8.ValidString(got) || strings.ContainsAny(got, "<>\n\r\x00\x1b") || len(got) > 5*most+3 {
			t.Fatalf("Markdown(%q) = %q", s, got)
		}
		escaped := false
		for _, r := range got {
			if strings.ContainsRune("`*[]|{}~", r) && !escaped {
				t.Fatalf("Markdown(%q) = %q: bare %q", s, got, r)
			}
			escaped = r == '\\' && !escaped
		}
	})
}

// FuzzXML states that text survives a round trip through an attribute and an element.
func FuzzXML(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, s string) {
		escaped := sanitize.AppendXML(nil, s)
		var got struct {
			A string `xml:"a,attr"`
			T string `xml:",chardata"`
		}
		doc := bytes.Join([][]byte{[]byte(`<x a="`), escaped, []byte(`">`), escaped, []byte(`</x>`)}, nil)
		if err := xml.Unmarshal(doc, &got); err != nil || got.A != sanitize.Text(s) || got.T != sanitize.Text(s) {
			t.Errorf("%q: %v, %q and %q; want %q", s, err, got.A, got.T, sanitize.Text(s))
		}
	})
}

// FuzzJSON states that text survives a round trip through JSON: cleaned if quoted here, unchanged if
// only escaped.
func FuzzJSON(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, s string) {
		var got string
		if err := json.Unmarshal(sanitize.AppendQuoted(nil, s), &got); err != nil || got != sanitize.Text(s) {
			t.Errorf("%q: %v, %q; want %q", s, err, got, sanitize.Text(s))
		}
		text, err := json.MarshalIndent([]string{s}, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		var want, again []string
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(sanitize.JSON(text), &again); err != nil || again[0] != want[0] {
			t.Errorf("%q: %v, %q; want %q", s, err, again, want)
		}
	})
}

// FuzzCell states that text survives a round trip through CSV. A possible formula gets an apostrophe,
// after which it is not a formula.
func FuzzCell(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, s string) {
		row := append(sanitize.AppendCell([]byte("1,"), s), ",2\n"...)
		got, err := csv.NewReader(bytes.NewReader(row)).ReadAll()
		clean := sanitize.Text(s)
		if err != nil || len(got) != 1 || len(got[0]) != 3 || got[0][1] != clean && got[0][1] != "'"+clean {
			t.Fatalf("%q: %v, %q", s, err, got)
		}
		if cell := strings.TrimSpace(got[0][1]); cell != "" && strings.ContainsRune("=+-@", rune(cell[0])) {
			t.Errorf("%q begins a formula", cell)
		}
	})
}
