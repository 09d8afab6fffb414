package main

import (
	"math"
	"testing"
	"time"
)

// A budget that is as good as none takes long, not no time.
func TestEstimateOfVeryMany(t *testing.T) {
	tests := []struct {
		requests int
		gap      time.Duration
		want     time.Duration
	}{
		{0, time.Second, 0},
		{1000, time.Second, 1000 * time.Second},
		{1<<31 - 1, time.Second, (1<<31 - 1) * time.Second},
		{1<<31 - 1, 5 * time.Second, math.MaxInt64},
		{1<<31 - 1, 10 * time.Second, math.MaxInt64},
		{1, 1 << 62, 1 << 62},
	}
	for _, tt := range tests {
		var e estimate
		if e.add(tt.requests, tt.gap); e.time != tt.want {
			t.Errorf("%d requests, %v apart: %v, want %v", tt.requests, tt.gap, e.time, tt.want)
		}
	}
}
