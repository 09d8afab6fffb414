package preference_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/schema/preference"
)

func said(source preference.Source, field preference.Field, values ...string) (all []preference.Statement) {
	for _, v := range values {
		all = append(all, preference.Statement{Source: source, Field: field, Value: v})
	}
	return all
}

// Content-Usage follows the AI preference vocabulary and RFC 9651 section 3.2: a malformed dictionary says nothing, the
// last of equal keys counts, parameters of y and n are ignored, and of several statements the most restrictive counts.
func TestContentUsage(t *testing.T) {
	tests := []struct {
		values []string
		want   string
	}{
		{[]string{"train-ai=n"}, "train-ai=n"},
		{[]string{"train-ai=y, search=n"}, "search=n, train-ai=y"},
		{[]string{"  train-ai=n ,  search=y"}, "search=y, train-ai=n"},
		{[]string{"train-ai=y;exp=2, search=n"}, "search=n, train-ai=y"},
		{[]string{"train-ai=y, train-ai=n"}, "train-ai=n"},
		{[]string{"train-ai=n, train-ai=y"}, "train-ai=y"},
		{[]string{"train-ai=n", "train-ai=y"}, "train-ai=n"},
		{[]string{"train-ai=y", "search=n"}, "search=n, train-ai=y"},
		{[]string{"train-ai=y", "train-ai=?0"}, "train-ai=y"},
		{[]string{"ai-use=n;q=1.5, x-own=y"}, "ai-use=n, x-own=y"},
		{[]string{`a=?1;b, c="d, e", f=(g h);i=1.0, j=:aGk=:`}, `a;b, c="d, e", f=(g h);i=1.0, j=:aGk=:`},
		{[]string{"train-ai=maybe"}, "train-ai=maybe"},
		{[]string{"train-ai=Y"}, "train-ai=Y"},
		{[]string{`train-ai="n"`}, `train-ai="n"`},
		{[]string{"train-ai"}, "train-ai"},
		{[]string{"Train-AI=n"}, ""},
		{[]string{"train-ai=n,"}, ""},
		{[]string{"train-ai=n search=y"}, ""},
		{[]string{"train-ai=\x00n", "search=y"}, "search=y, train-ai=n"},
		{[]string{"é=n"}, ""},
		{[]string{""}, ""},
	}
	for _, tt := range tests {
		text := preference.Text(said(preference.Header, preference.ContentUsage, tt.values...)...)
		want := tt.want
		if want != "" {
			want = "Content-Usage: " + want
		}
		if got := preference.Applied(text); got != want {
			t.Errorf("%q: %q, want %q", tt.values, got, want)
		}
	}
}

func TestContentSignal(t *testing.T) {
	tests := []struct {
		values   []string
		want     string
		fleeting bool
	}{
		{[]string{"search=yes, ai-train=no"}, "ai-train=no, search=yes", false},
		{[]string{"Search=Yes,AI-Train=NO,use=Reference"}, "ai-train=no, search=yes, use=reference", false},
		{[]string{"use=immediate"}, "use=immediate", true},
		{[]string{"use=full", "use=immediate"}, "use=immediate", true},
		{[]string{"use=immediate", "use=reference"}, "use=immediate", true},
		{[]string{"use=full, use=reference"}, "use=reference", false},
		{[]string{"ai-input=no", "ai-input=yes"}, "ai-input=no", false},
		{[]string{"Own-Word=As Written, search"}, "own-word=As Written, search=", false},
		{[]string{", ,="}, "", false},
	}
	for _, tt := range tests {
		text := preference.Text(said(preference.Robots, preference.ContentSignal, tt.values...)...)
		want := tt.want
		if want != "" {
			want = "Content-Signal: " + want
		}
		if got := preference.Applied(text); got != want || preference.Fleeting(text) != tt.fleeting {
			t.Errorf("%q: %q, fleeting %t, want %q", tt.values, got, preference.Fleeting(text), want)
		}
	}
}

// A text has what was said, once and within its limit, and Parse returns it.
func TestText(t *testing.T) {
	all := []preference.Statement{
		{Source: preference.Robots, Field: preference.ContentUsage, Path: "/a", Value: "train-ai=n"},
		{Source: preference.Header, Field: preference.ContentUsage, Value: "/a"},
		{Source: preference.Element, Field: preference.License, Value: "https://a.test/l"},
		{Source: preference.Robots, Field: preference.License, Value: "/l b"},
	}
	text := preference.Text(append(all, all...)...)
	want := "robots.txt: Content-Usage: /a train-ai=n\nheader: Content-Usage: /a\n" +
		"element: License: https://a.test/l\nrobots.txt: License: /l b"
	if text != want {
		t.Errorf("%q", text)
	}
	if diff := cmp.Diff(all, preference.Parse(text)); diff != "" {
		t.Error(diff)
	}
	if got, want := preference.Applied(text), "Content-Usage: train-ai=n; License: https://a.test/l /l b"; got != want {
		t.Errorf("applied %q, want %q", got, want)
	}
	hostile := preference.Text(said(preference.Header, preference.License, "a\x1b[2J\nheader: License: b\u202e")...)
	if strings.ContainsAny(hostile, "\x1b\n\u202e") {
		t.Errorf("%q", hostile)
	}
	var long []preference.Statement
	for i := range 100 {
		long = append(long, said(preference.Robots, preference.License, strings.Repeat("é", i*10))...)
	}
	if text := preference.Text(long...); len(text) > preference.MaxText || len(text) < preference.MaxText/2 {
		t.Errorf("%d bytes", len(text))
	}
}

// What a known key says survives any length of the rest.
func TestKnownKeysAreNotCut(t *testing.T) {
	many := func(n int) string {
		var own []string
		for i := range n {
			own = append(own, fmt.Sprintf("own%d=\"a, b\"", i))
		}
		return strings.Join(own, ", ")
	}
	long := strings.Repeat("x", 600)
	crowd := said(preference.Robots, preference.ContentUsage, many(20), many(25), many(30), many(35), many(40), many(45))
	type statements = []preference.Statement
	tests := []struct {
		name     string
		all      statements
		stance   preference.Stance
		fleeting bool
	}{
		{"usage, last", said(preference.Header, preference.ContentUsage, many(100)+", train-ai=n"), preference.Refused, false},
		{"usage, first", said(preference.Header, preference.ContentUsage, "train-ai=n, "+many(100)), preference.Refused, false},
		{"usage, revoked", said(preference.Header, preference.ContentUsage, "train-ai=n, "+many(100)+", train-ai=y"),
			preference.Permitted, false},
		{"usage, a long member", said(preference.Header, preference.ContentUsage, "a="+long+", train-ai=n"),
			preference.Refused, false},
		{"usage, malformed after the limit", said(preference.Header, preference.ContentUsage, "train-ai=n, "+many(100)+","),
			preference.Otherwise, false},
		{"signal", said(preference.Header, preference.ContentSignal, long+", use=immediate, "+long+", ai-train=no"),
			preference.Refused, true},
		{"other statements", append(slices.Clone(crowd),
			said(preference.Header, preference.ContentSignal, "use=full", "use=immediate", "ai-train=no")...),
			preference.Refused, true},
		{"other statements, usage", append(slices.Clone(crowd),
			said(preference.Header, preference.ContentUsage, "train-ai=n")...), preference.Refused, false},
	}
	for _, tt := range tests {
		text := preference.Text(tt.all...)
		if got := preference.StanceOf(text); got != tt.stance || preference.Fleeting(text) != tt.fleeting {
			t.Errorf("%s: %s, fleeting %t: %q", tt.name, got, preference.Fleeting(text), text)
		}
		if len(text) > preference.MaxText || preference.Text(preference.Parse(text)...) != text {
			t.Errorf("%s: %q", tt.name, text)
		}
		for _, s := range preference.Parse(text) {
			if len(s.Value) > preference.MaxValue {
				t.Errorf("%s: a value has %d bytes", tt.name, len(s.Value))
			}
		}
	}
}

func TestStance(t *testing.T) {
	tests := []struct {
		text string
		want preference.Stance
	}{
		{"", preference.Silent},
		{"header: License: l", preference.Otherwise},
		{"header: Content-Usage: search=n", preference.Otherwise},
		{"header: Content-Usage: train-ai=y", preference.Permitted},
		{"robots.txt: Content-Signal: ai-train=yes", preference.Permitted},
		{"header: Content-Usage: train-ai=y\nrobots.txt: Content-Signal: ai-train=no", preference.Refused},
		{"header: Content-Usage: train-ai=n\nrobots.txt: Content-Signal: ai-train=yes", preference.Refused},
	}
	for _, tt := range tests {
		if got := preference.StanceOf(tt.text); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.text, got, tt.want)
		}
	}
}

// Whatever is said, the text is bounded and safe, what it says does not depend on the order of statements, and saying
// the applied Content-Usage again changes nothing.
func FuzzApplied(f *testing.F) {
	f.Add("train-ai=n, search=y", "ai-train=no, use=immediate", "https://a.test/l")
	f.Add(`a=?1;b, c="d", f=(g h);i=1.0`, "x, Y=é", "")
	f.Fuzz(func(t *testing.T, usage, signal, license string) {
		all := []preference.Statement{
			{Source: preference.Header, Field: preference.ContentUsage, Value: usage},
			{Source: preference.Element, Field: preference.ContentUsage, Value: signal},
			{Source: preference.Header, Field: preference.ContentSignal, Value: signal},
			{Source: preference.Element, Field: preference.License, Value: license},
		}
		text := preference.Text(all...)
		if len(text) > preference.MaxText || !utf8.ValidString(text) || preference.Text(preference.Parse(text)...) != text {
			t.Fatalf("%q", text)
		}
		applied := preference.Applied(text)
		all[0], all[1], all[2] = all[2], all[0], all[1]
		if again := preference.Applied(preference.Text(all...)); again != applied {
			t.Errorf("%q in another order: %q", applied, again)
		}
		one := preference.Applied(preference.Text(all[1]))
		if value, ok := strings.CutPrefix(one, "Content-Usage: "); ok {
			all[1].Value = value
			if again := preference.Applied(preference.Text(all[1])); again != one && len(value) <= preference.MaxValue {
				t.Errorf("%q, again: %q", one, again)
			}
		}
	})
}
