package graph

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"math"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestReal(t *testing.T) {
	for f, want := range map[float64]string{0: "0", 0.5: "0.5", -1: "-1", 1e21: "1e+21", math.Inf(1): "INF", math.Inf(-1): "-INF"} {
		if got := string(appendReal(nil, f)); got != want {
			t.Errorf("appendReal(%v) = %s; want %s", f, got, want)
		}
	}
	if got := string(appendReal(nil, math.NaN())); got != "NaN" {
		t.Errorf("NaN is %s", got)
	}
}

func TestCell(t *testing.T) {
	tests := map[string]string{
		"": "", "plain": "plain", "=1": "'=1", "+1": "'+1", "-1": "'-1", "@x": "'@x", "\t=1": "' =1", "a,b": `"a,b"`, `say "hi"`: `"say ""hi"""`,
		"a\r\nb": "a  b", " x": `" x"`, "  =1": "'  =1", "＝1": "'＝1", `"=1"`: `"'""=1"""`, "a=1": "a=1", "|x": "'|x", "\x00=1": "'\uFFFD=1",
	}
	for in, want := range tests {
		if got := string(AppendCell(nil, in)); got != want {
			t.Errorf("AppendCell(%q) = %s; want %s", in, got, want)
		}
	}
}

func seeds(f *testing.F) {
	for _, s := range []string{"", "plain", "=1", "\xed\xa0\x80", "\uFFFE", "<&>\"'", "\\\"", "]]>", "a\x00\r\n\t", "\u202e", "é😀", "\\"} {
		f.Add(s)
	}
}

// FuzzClean states that clean text is valid, has no control characters, and is
// not made cleaner.
func FuzzClean(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, s string) {
		got := clean(s)
		if !utf8.ValidString(got) || clean(got) != got || strings.ContainsFunc(got, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			t.Errorf("clean(%q) = %q", s, got)
		}
	})
}

// FuzzXML states that text comes back from an attribute and from an element.
func FuzzXML(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, s string) {
		escaped := appendXML(nil, s)
		var got struct {
			A string `xml:"a,attr"`
			T string `xml:",chardata"`
		}
		doc := bytes.Join([][]byte{[]byte(`<x a="`), escaped, []byte(`">`), escaped, []byte(`</x>`)}, nil)
		if err := xml.Unmarshal(doc, &got); err != nil || got.A != clean(s) || got.T != clean(s) {
			t.Errorf("%q: %v, %q and %q; want %q", s, err, got.A, got.T, clean(s))
		}
	})
}

// FuzzJSON states that text comes back from JSON.
func FuzzJSON(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, s string) {
		var got string
		if err := json.Unmarshal(appendQuoted(nil, s), &got); err != nil || got != clean(s) {
			t.Errorf("%q: %v, %q; want %q", s, err, got, clean(s))
		}
	})
}

// FuzzCell states that text comes back from CSV, an apostrophe before it if it
// could be a formula, which then it is not.
func FuzzCell(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, s string) {
		row := append(AppendCell([]byte("1,"), s), ",2\n"...)
		got, err := csv.NewReader(bytes.NewReader(row)).ReadAll()
		if err != nil || len(got) != 1 || len(got[0]) != 3 || got[0][1] != clean(s) && got[0][1] != "'"+clean(s) {
			t.Fatalf("%q: %v, %q", s, err, got)
		}
		if cell := strings.TrimSpace(got[0][1]); cell != "" && strings.ContainsRune("=+-@", rune(cell[0])) {
			t.Errorf("%q begins a formula", cell)
		}
	})
}
