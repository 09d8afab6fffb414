package export

import (
	"fmt"
	"strings"
	"testing"
)

func TestHeaviest(t *testing.T) {
	links := []pair{
		{from: 1, to: 2, links: 9}, {from: 1, to: 3, links: 1}, {from: 2, to: 1, links: 9}, {from: 2, to: 3, links: 8},
		{from: 4, to: 5, links: 1},
	}
	all := []uint32{9, 1, 9, 8, 1}
	counts := []uint32{0, 1, 1, 0, 1} // links that do not count come last, even if they stand for many page pairs
	for _, tt := range []struct {
		weight []uint32
		n      int
		want   string
	}{
		{all, 1, "1>2"}, {all, 2, "1>2 2>3"}, {all, 3, "1>2 2>3 4>5"}, {all, 4, "1>2 2>1 2>3 4>5"},
		{all, 5, "1>2 1>3 2>1 2>3 4>5"}, {all, 9, "1>2 1>3 2>1 2>3 4>5"},
		{counts, 1, "2>1"}, {counts, 3, "1>3 2>1 4>5"}, {counts, 4, "1>2 1>3 2>1 4>5"},
	} {
		var got []string
		for i, shown := range heaviest(links, tt.weight, tt.n) {
			if shown {
				got = append(got, fmt.Sprintf("%d>%d", links[i].from, links[i].to))
			}
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("heaviest(%v, %d) = %s; want %s", tt.weight, tt.n, got, tt.want)
		}
	}
}
