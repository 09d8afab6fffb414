package schema

import (
	"slices"
	"testing"
)

func TestShards(t *testing.T) {
	tests := []struct {
		numbers []int
		want    string
		named   string
	}{
		{nil, "", "shards "},
		{[]int{0}, "0", "shard 0"},
		{[]int{255, 0}, "0, 255", "shards 0, 255"},
		{[]int{3, 4, 3}, "3, 4", "shards 3, 4"},
		{[]int{62, 63, 64, 66}, "62-64, 66", "shards 62-64, 66"},
		{[]int{-1, 256, 128}, "128", "shard 128"},
	}
	for _, tt := range tests {
		s := ShardsOf(tt.numbers...)
		if s.String() != tt.want || s.Named() != tt.named {
			t.Errorf("%v reads %q and %q, want %q and %q", tt.numbers, s, s.Named(), tt.want, tt.named)
		}
		all := slices.Collect(s.All())
		if len(all) != s.Len() || ShardsOf(all...) != s || s.Has(-1) || s.Has(256) {
			t.Errorf("%v has %v, %d", tt.numbers, all, s.Len())
		}
		more := s
		for _, n := range []int{-1, 66, 66, 200, 256} {
			more.Set(n, true)
		}
		if want := ShardsOf(append(all, 66, 200)...); more != want {
			t.Errorf("%v with more has %v, want %v", tt.numbers, more, want)
		}
		for n := range 256 {
			more.Set(n, s.Has(n))
		}
		if more != s {
			t.Errorf("%v without them again has %v", tt.numbers, more)
		}
	}
}
