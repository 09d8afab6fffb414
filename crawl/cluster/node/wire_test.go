package node

import (
	"maps"
	"slices"
	"testing"
)

// A shard has a lane for letters from each of the others, a lane for each kind of question, and none for itself.
func TestLanes(t *testing.T) {
	got := slices.Sorted(maps.Keys(lanes(1, 4)))
	if want := []string{"0", "2", "3", "C", "F", "G", "M", "R", "S", "T", "X"}; !slices.Equal(got, want) {
		t.Errorf("lanes %q, want %q", got, want)
	}
}
