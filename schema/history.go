package schema

import (
	"slices"
	"time"
)

// MaxPoints is the number of points that the history of a run keeps.
const MaxPoints = 512

// A Point is the progress of a run at a time.
type Point struct {
	At       time.Time // milliseconds
	Pages    int       // as in [Run]
	Requests int       // as in [Run]
	Errors   int       // of all kinds
	Waiting  int       // pages to visit, as last counted
}

// A History is the progress of a run over time, oldest first. When it is full, every other point is dropped and the
// time between points doubles, so that the whole run stays in it.
type History struct {
	Every  time.Duration // between points; 0: as in an empty history
	Points []Point
}

// Due reports whether a point is to be added.
func (h *History) Due(now time.Time) bool {
	if len(h.Points) == 0 {
		return true
	}
	passed := now.Sub(h.Points[len(h.Points)-1].At)
	return passed >= max(h.Every, time.Second) || passed < 0 // a clock was set back
}

// Add adds a point in place of those that are not earlier, which are there if a clock was set back.
func (h *History) Add(p Point) {
	p.At = p.At.UTC().Truncate(time.Millisecond)
	for n := len(h.Points); n > 0 && !h.Points[n-1].At.Before(p.At); n = len(h.Points) {
		h.Points = h.Points[:n-1]
	}
	h.Every = max(h.Every, time.Second)
	if len(h.Points) >= MaxPoints {
		h.halve()
	}
	h.Points = append(h.Points, p)
}

// halve drops every other point.
func (h *History) halve() {
	kept := h.Points[:0]
	for i := 0; i < len(h.Points); i += 2 {
		kept = append(kept, h.Points[i])
	}
	h.Points, h.Every = kept, 2*h.Every
}

// SumHistories adds up the histories of the shards of a run.
func SumHistories(parts []History) (sum History) {
	var times []time.Time
	for _, part := range parts {
		sum.Every = max(sum.Every, part.Every)
		for _, p := range part.Points {
			times = append(times, p.At)
		}
	}
	slices.SortFunc(times, time.Time.Compare)
	next := make([]int, len(parts))
	for _, at := range slices.Compact(times) {
		whole := Point{At: at}
		for i, part := range parts {
			for next[i] < len(part.Points) && !part.Points[next[i]].At.After(at) {
				next[i]++
			}
			if next[i] > 0 {
				p := part.Points[next[i]-1]
				whole.Pages, whole.Requests = whole.Pages+p.Pages, whole.Requests+p.Requests
				whole.Errors, whole.Waiting = whole.Errors+p.Errors, whole.Waiting+p.Waiting
			}
		}
		sum.Points = append(sum.Points, whole)
	}
	for len(sum.Points) > MaxPoints {
		sum.halve()
	}
	return sum
}
