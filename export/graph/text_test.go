package graph

import (
	"math"
	"testing"
)

func TestReal(t *testing.T) {
	for f, want := range map[float64]string{0: "0", 0.5: "0.5", -1: "-1", 1e21: "1e+21", math.Inf(1): "INF",
		math.Inf(-1): "-INF"} {
		if got := string(appendReal(nil, f)); got != want {
			t.Errorf("appendReal(%v) = %s; want %s", f, got, want)
		}
	}
	if got := string(appendReal(nil, math.NaN())); got != "NaN" {
		t.Errorf("NaN is %s", got)
	}
}
