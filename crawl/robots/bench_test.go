package robots_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl/robots"
	"github.com/sumi-ripple/ripple/schema/process"
)

// hostile returns files of about 500 KB, each with its most expensive path.
func hostile() []struct{ name, body, path string } {
	random := rand.New(rand.NewPCG(1, 2))
	abc := "/" + letters(random, "abc", 2047)
	return []struct{ name, body, path string }{
		{"agents", "Disallow: /\n" + repeat(25_000, func(i int) string { return fmt.Sprintf("User-agent: a%d", i) }),
			"/"},
		{"agents and rules", repeat(12_000, func(i int) string {
			return fmt.Sprintf("User-agent: a%d\nUser-agent: *\nDisallow: /%d", i, i)
		}), "/12000"},
		{"literals", "User-agent: *\n" + repeat(25_000, func(i int) string { return fmt.Sprintf("Allow: /a/%d", i) }),
			"/a/x"},
		{"stars, one rule", "User-agent: *\n" + repeat(20_000, func(int) string { return "Disallow: /*a*a*a*b" }),
			"/" + strings.Repeat("a", 2047)},
		{"stars, many rules", "User-agent: *\n" + repeat(20_000,
			func(i int) string { return fmt.Sprintf("Allow: /*a*a*a*b%d", i) }), "/" + strings.Repeat("a", 2047)},
		{"stars, three letters", "User-agent: *\n" + repeat(25_000, func(int) string {
			for {
				if part := letters(random, "abc", 10); !strings.Contains(abc, part) {
					return "Allow:/*" + part
				}
			}
		}), abc},
		{"stars in one rule", "User-agent: *\nDisallow: /" + strings.Repeat("*a", 240_000) + "b\n",
			"/" + strings.Repeat("a", 2047)},
		{"encoded", "User-agent: *\n" +
			repeat(20_000, func(i int) string { return fmt.Sprintf("Disallow: /*\xe4%d", i) }),
			"/" + strings.Repeat("?%2F", 500)},
		{"line ends", strings.Repeat("\r", robots.MaxBytes), "/"},
		{"empty keys", strings.Repeat(":\n", robots.MaxBytes/2), "/"},
	}
}

// TestHostile would take minutes if the work were not linear; benchmarks show how long it takes.
func TestHostile(t *testing.T) {
	for _, tt := range hostile() {
		start := process.CPUTime()
		r := robots.Parse([]byte(tt.body), "ripple")
		r.Check(tt.path)
		if took := process.CPUTime() - start; took > time.Second {
			t.Errorf("%s: %d bytes took %v", tt.name, len(tt.body), took)
		}
	}
}

func BenchmarkRobots(b *testing.B) {
	for _, tt := range hostile() {
		b.Run("parse/"+tt.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(tt.body)))
			body := []byte(tt.body)
			for b.Loop() {
				robots.Parse(body, "ripple")
			}
		})
		b.Run("check/"+tt.name, func(b *testing.B) {
			b.ReportAllocs()
			r := robots.Parse([]byte(tt.body), "ripple")
			for b.Loop() {
				r.Check(tt.path)
			}
		})
	}
}

func BenchmarkCheck(b *testing.B) {
	body := "User-agent: *\n" + repeat(40, func(i int) string { return fmt.Sprintf("Disallow: /folder-%d/", i) }) +
		repeat(20, func(i int) string { return fmt.Sprintf("Disallow: /*?filter-%d=", i) })
	r := robots.Parse([]byte(body), "ripple")
	b.ReportAllocs()
	for b.Loop() {
		r.Check("/products/shoes/brown?size=42&page=3")
	}
}

func repeat(n int, line func(int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(line(i))
		b.WriteByte('\n')
	}
	return b.String()
}

func letters(r *rand.Rand, of string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = of[r.IntN(len(of))]
	}
	return string(b)
}
