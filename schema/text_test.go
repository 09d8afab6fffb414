package schema

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestClean(t *testing.T) {
	tests := []struct {
		name, in string
		max      int
		want     string
	}{
		{"plain", "Not Found", 64, "Not Found"},
		{"empty", "", 8, ""},
		{"escape sequence", "a\x1b[31mred", 64, "a[31mred"},
		{"folded", "  a\n\t b  ", 64, "a b"},
		{"override", "a\u202eb", 64, "ab"},
		{"cut at a rune", "ééé", 3, "é"},
		{"cut before a space", "ab cd", 2, "ab"},
		{"bad bytes", "a\xffb", 64, "ab"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Clean(tt.in, tt.max)
			if got != tt.want {
				t.Fatalf("Clean(%q, %d) = %q; want %q", tt.in, tt.max, got, tt.want)
			}
		})
	}
}

func FuzzClean(f *testing.F) {
	f.Add("a\x00b\u202e c", 7)
	f.Fuzz(func(t *testing.T, s string, max int) {
		if max < 0 || max > 1<<16 {
			return
		}
		got := Clean(s, max)
		if !utf8.ValidString(got) || len(got) > max || strings.ContainsAny(got, "\x00\n\r\x1b") {
			t.Fatalf("Clean(%q, %d) = %q", s, max, got)
		}
		if again := Clean(got, max); again != got {
			t.Fatalf("not idempotent: %q then %q", got, again)
		}
	})
}
