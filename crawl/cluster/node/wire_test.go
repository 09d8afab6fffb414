package node

import (
	"maps"
	"slices"
	"testing"
)

// A shard hears each of the others, and what it is asked, in a lane of its own, and itself in none.
func TestLanes(t *testing.T) {
	got := slices.Sorted(maps.Keys(lanes(1, 4)))
	if want := []string{"0", "2", "3", "F", "G", "R", "S", "X"}; !slices.Equal(got, want) {
		t.Errorf("lanes %q, want %q", got, want)
	}
}
