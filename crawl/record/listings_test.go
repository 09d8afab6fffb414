package record

import (
	"testing"
	"time"
)

// A lastmod counts as late as it may mean.
func TestSpares(t *testing.T) {
	at := func(s string) time.Time {
		parsed, err := time.Parse(time.RFC3339, s)
		if err != nil {
			t.Fatal(err)
		}
		return parsed
	}
	now := at("2026-06-15T12:00:00Z")
	tests := []struct {
		name    string
		lastmod string
		visited string
		want    bool
	}{
		{"changed before the visit", "2026-06-10T08:00:00Z", "2026-06-10T08:00:01Z", true},
		{"changed when it was visited", "2026-06-10T08:00:00Z", "2026-06-10T08:00:00Z", false},
		{"changed after the visit", "2026-06-10T08:00:00Z", "2026-06-10T07:00:00Z", false},
		{"a day may mean its end, in any zone", "2026-06-10T00:00:00Z", "2026-06-11T11:00:00Z", false},
		{"a day, over everywhere", "2026-06-10T00:00:00Z", "2026-06-11T12:00:01Z", true},
		{"the first of a month may mean the month", "2026-05-01T00:00:00Z", "2026-05-20T00:00:00Z", false},
		{"a month that is over", "2026-05-01T00:00:00Z", "2026-06-02T00:00:00Z", true},
		{"the first of January may mean the year", "2026-01-01T00:00:00Z", "2026-06-14T00:00:00Z", false},
		{"a year that is over", "2025-01-01T00:00:00Z", "2026-06-14T00:00:00Z", true},
		{"nothing said", "", "2026-06-15T11:59:00Z", false},
		{"changed since, but the clock was wrong", "2026-06-14T08:00:00Z", "2027-06-15T12:00:00Z", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := listing{}
			if tt.lastmod != "" {
				l.changed = at(tt.lastmod)
			}
			if got := l.spares(at(tt.visited), now); got != tt.want {
				t.Errorf("spares = %t, want %t", got, tt.want)
			}
		})
	}
}
