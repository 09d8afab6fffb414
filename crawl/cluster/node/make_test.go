package node

import (
	"slices"
	"testing"
)

// However many shards there are, their files are made in a few turns. No node makes more than its share or its
// limit; shards that others have left unmade for long are made by any node.
func TestClaim(t *testing.T) {
	tests := []struct {
		name              string
		shards, maxShards int
		others            int // nodes
		left              bool
		want              []int // claimed in each turn
	}{
		{"one", 1, 0, 0, false, []int{1}},
		{"eight", 8, 0, 0, false, []int{1, 1, 1, 1, 1, 1, 1, 1}},
		{"as many as may be", 256, 0, 0, false, []int{32, 32, 32, 32, 32, 32, 32, 32}},
		{"a third of them", 100, 0, 2, false, []int{5, 5, 5, 5, 5, 5, 4}},
		{"not more than it may hold", 256, 40, 0, false, []int{32, 8}},
		{"left by others", 6, 0, 2, true, []int{1, 1, 1, 1, 1, 1}},
		{"left, and more than it may hold", 6, 4, 2, true, []int{1, 1, 1, 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newCharter(tt.shards, nil)
			c.number("me")
			for _, other := range []string{"a", "b"}[:tt.others] {
				c.number(other)
			}
			var got []int
			for had := 0; c.claim("me", tt.maxShards, tt.left); had = len(c.of("me")) {
				got = append(got, len(c.of("me"))-had)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("claimed %v, want %v", got, tt.want)
			}
		})
	}
}
