package summary

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestInert(t *testing.T) {
	tests := []struct{ in, want string }{
		{"https://en.wikipedia.org/wiki/Web_crawler?a=b-c", "https://en.wikipedia.org/wiki/Web_crawler?a=b-c"},
		{"a|b", `a\|b`},
		{"`x`", "\\`x\\`"},
		{"](javascript:x)", `\]\(javascript:x)`},
		{"<script>", "&lt;script&gt;"},
		{"&lt;", "&amp;lt;"},
		{"_em_", `\_em\_`},
		{"# x", `\# x`},
		{"a\nb\x1b", "a b"},
		{strings.Repeat("x", 301), strings.Repeat("x", 300) + "..."},
	}
	for _, tt := range tests {
		if got := inert(tt.in); got != tt.want {
			t.Errorf("inert(%q) = %q; want %q", tt.in, got, tt.want)
		}
	}
}

// FuzzInert states that no markup and no control character is left.
func FuzzInert(f *testing.F) {
	f.Add("[a](b) <b>|`*_\\`\x00")
	f.Fuzz(func(t *testing.T, s string) {
		got := inert(s)
		if !utf8.ValidString(got) || strings.ContainsAny(got, "<>\n\r\x00\x1b") || len(got) > 5*maxText+3 {
			t.Fatalf("inert(%q) = %q", s, got)
		}
		escaped := false
		for _, r := range got {
			if strings.ContainsRune("`*[]|{}~", r) && !escaped {
				t.Fatalf("inert(%q) = %q: bare %q", s, got, r)
			}
			escaped = r == '\\' && !escaped
		}
	})
}

func TestNumbers(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 12847: "12,847", 1234567: "1,234,567", -1000: "-1,000"} {
		if got := count(n); got != want {
			t.Errorf("count(%d) = %q; want %q", n, got, want)
		}
	}
	for d, want := range map[time.Duration]string{0: "0s", 61 * time.Second: "1m 1s", 4*time.Hour + 15*time.Minute + 23*time.Second: "4h 15m 23s"} {
		if got := span(d); got != want {
			t.Errorf("span(%s) = %q; want %q", d, got, want)
		}
	}
}

// TestTop holds the list to sorting everything.
func TestTop(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		items := rapid.SliceOf(rapid.IntRange(0, 50)).Draw(t, "items")
		list := newTop(3, func(a, b int) int { return b - a })
		for _, item := range items {
			list.add(item)
		}
		all := newTop(len(items), list.order)
		for _, item := range items {
			all.items = append(all.items, item)
		}
		best := all.best()
		for i, got := range list.best() {
			if got != best[i] {
				t.Fatalf("item %d of %v = %d; want %d", i, items, got, best[i])
			}
		}
		if list.total != len(items) {
			t.Fatalf("total %d of %d", list.total, len(items))
		}
	})
}
