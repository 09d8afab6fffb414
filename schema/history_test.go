package schema

import (
	"slices"
	"testing"
	"time"
)

// A history never has more than its points, keeps the first, and spans the whole run.
func TestHistory(t *testing.T) {
	var h History
	begun := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	const all = 20_000
	for i := range all {
		now := begun.Add(time.Duration(i) * time.Second)
		if h.Due(now) {
			h.Add(Point{At: now, Pages: i})
		}
		if len(h.Points) > MaxPoints {
			t.Fatalf("%d points", len(h.Points))
		}
	}
	first, last := h.Points[0], h.Points[len(h.Points)-1]
	if h.Every != 64*time.Second || first.Pages != 0 || last.Pages < all-65 || len(h.Points) < MaxPoints/2 {
		t.Errorf("%d points every %v, from %d to %d", len(h.Points), h.Every, first.Pages, last.Pages)
	}
	for i := 1; i < len(h.Points); i++ {
		if gap := h.Points[i].At.Sub(h.Points[i-1].At); gap != h.Every && i < len(h.Points)-1 {
			t.Fatalf("%v between points %d and %d", gap, i-1, i)
		}
	}
}

// A clock that is set back takes the points of its false time away, and the history goes on.
func TestHistoryClockSetBack(t *testing.T) {
	var h History
	at := func(s int) time.Time { return time.Unix(int64(s), 0).UTC() }
	for _, s := range []int{10, 11, 5000, 5001, 12, 12, 13} {
		if now := at(s); h.Due(now) || s == 12 {
			h.Add(Point{At: now, Pages: s})
		}
	}
	var got []int
	for _, p := range h.Points {
		got = append(got, p.Pages)
	}
	if want := []int{10, 11, 12, 13}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// The history of a merged run adds up what its shards had done by each time.
func TestSumHistories(t *testing.T) {
	at := func(s int) time.Time { return time.Unix(int64(s), 0).UTC() }
	a := History{time.Second, []Point{{At: at(1), Pages: 1}, {At: at(3), Pages: 5, Waiting: 2}}}
	b := History{2 * time.Second, []Point{{At: at(2), Pages: 10, Errors: 1}, {At: at(3), Pages: 20}}}
	sum := SumHistories([]History{a, b})
	want := []Point{{At: at(1), Pages: 1}, {At: at(2), Pages: 11, Errors: 1}, {At: at(3), Pages: 25, Waiting: 2}}
	if sum.Every != 2*time.Second || len(sum.Points) != 3 || sum.Points[0] != want[0] || sum.Points[1] != want[1] ||
		sum.Points[2] != want[2] {
		t.Errorf("%+v", sum)
	}
}
