package weburl_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/schema/weburl"
)

func TestNewRulesRefuses(t *testing.T) {
	tests := []struct {
		name, pattern string
		length        int
	}{
		{"empty pattern", "", 100},
		{"star inside", "utm*x", 100},
		{"two stars", "utm**", 100},
		{"star in front", "*id", 100},
		{"equals sign", "a=b", 100},
		{"ampersand", "a&b", 100},
		{"space", "a b", 100},
		{"umlaut", "größe", 100},
		{"NUL", "a\x00", 100},
		{"no length", "a", 0},
		{"too much length", "a", 1 << 20},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := weburl.NewRules([]string{"ok", tt.pattern}, tt.length)
			if err == nil {
				t.Fatal("no error")
			}
			if tt.length == 100 && tt.pattern != "a\x00" && !strings.Contains(err.Error(), `"`+tt.pattern+`"`) {
				t.Errorf("%v does not name %q", err, tt.pattern)
			}
		})
	}
}

func TestStripParams(t *testing.T) {
	tests := []struct{ name, patterns, query, want string }{
		{"exact", "sid", "?sid=1&sid2=2&a", "?sid2=2&a"},
		{"exact in any case", "sId", "?SiD=1&a", "?a"},
		{"prefix", "s_*", "?s_=1&s_x&S_Y=2&s=3", "?s=3"},
		{"prefix longer than the name", "session*", "?se=1", "?se=1"},
		{"several", "a b* c", "?a&bb&cc&c=&d", "?cc&d"},
		{"first of many", "a", "?a&&b", "?&b"},
		{"last", "a", "?b&a=1", "?b"},
		{"all of them", "a", "?a&a=1&A", ""},
		{"everything", "*", "?a&b=1&=x&", ""},
		{"nothing but empty pieces left", "a", "?a&", ""},
		{"no name", "a", "?=a", "?=a"},
		{"escaped name", "a%20b", "?a b=1&c", "?c"},
		{"escape in another spelling", "ab", "?%61b=1", "?%61b=1"},
		{"long name", strings.Repeat("n", 200) + "*", "?" + strings.Repeat("N", 300) + "=1&c", "?c"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rules, err := weburl.NewRules(strings.Fields(tt.patterns), 2048)
			if err != nil {
				t.Fatal(err)
			}
			u, err := rules.Parse("https://example.com/" + tt.query)
			if err != nil || u.Form != "https://example.com/"+tt.want {
				t.Fatalf("Form = %q, %v; want query %q", u.Form, err, tt.want)
			}
			checkLaws(t, rules, u)
		})
	}
}

func TestExplain(t *testing.T) {
	rules := newRules(t)
	steps, u, err := rules.Explain("HTTP://me:pw@WWW.Bücher.example.:443/%7ea/./b/?z=1&utm_id=2&&a#top")
	if err != nil {
		t.Fatal(err)
	}
	want := []weburl.Step{
		{Name: "parse", Result: "http://me:pw@www.xn--bcher-kva.example.:443/%7ea/b/?z=1&utm_id=2&&a#top"},
		{Name: "drop user", Result: "http://www.xn--bcher-kva.example.:443/%7ea/b/?z=1&utm_id=2&&a#top"},
		{Name: "https", Result: "https://www.xn--bcher-kva.example./%7ea/b/?z=1&utm_id=2&&a#top"},
		{Name: "drop trailing dot", Result: "https://www.xn--bcher-kva.example/%7ea/b/?z=1&utm_id=2&&a#top"},
		{Name: "drop www", Result: "https://xn--bcher-kva.example/%7ea/b/?z=1&utm_id=2&&a#top"},
		{Name: "path", Result: "https://xn--bcher-kva.example/~a/b?z=1&utm_id=2&&a#top"},
		{Name: "drop fragment", Result: "https://xn--bcher-kva.example/~a/b?z=1&utm_id=2&&a"},
		{Name: "strip-params", Result: "https://xn--bcher-kva.example/~a/b?z=1&&a"},
		{Name: "sort parameters", Result: "https://xn--bcher-kva.example/~a/b?a&z=1"},
	}
	if diff := cmp.Diff(want, steps); diff != "" {
		t.Error(diff)
	}
	if u.Norm != want[len(want)-1].Result {
		t.Errorf("Norm = %q", u.Norm)
	}
}

// Explain and Parse use different code and must agree.
func TestExplainAgreesWithParse(t *testing.T) {
	rules := newRules(t)
	for _, raw := range hostile() {
		want, wantErr := rules.Parse(raw)
		steps, got, err := rules.Explain(raw)
		if got != want || (err == nil) != (wantErr == nil) {
			t.Errorf("Explain(%q) = %+v, %v; Parse says %+v, %v", raw, got, err, want, wantErr)
		}
		if err == nil && steps[len(steps)-1].Result != want.Norm {
			t.Errorf("Explain(%q) ends with %+v, want %q", raw, steps[len(steps)-1], want.Norm)
		}
	}
}

func TestExplainTooLong(t *testing.T) {
	rules, err := weburl.NewRules(nil, 20)
	if err != nil {
		t.Fatal(err)
	}
	if steps, _, err := rules.Explain("https://example.com/abc/"); err == nil || len(steps) != 2 {
		t.Errorf("Explain = %+v, %v; want two steps and an error", steps, err)
	}
}
