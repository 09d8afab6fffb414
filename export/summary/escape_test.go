package summary

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "0s", 61 * time.Second: "1m 1s",
		4*time.Hour + 15*time.Minute + 23*time.Second: "4h 15m 23s"} {
		if got := span(d); got != want {
			t.Errorf("span(%s) = %q; want %q", d, got, want)
		}
	}
}

// TestTop compares the list with sorting everything.
func TestTop(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		items := rapid.SliceOf(rapid.IntRange(0, 50)).Draw(t, "items")
		list := newTop(3, func(a, b int) int { return b - a })
		for _, item := range items {
			list.add(item)
		}
		all := newTop(len(items), list.order)
		all.items = append(all.items, items...)
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
