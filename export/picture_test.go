package export

import (
	"fmt"
	"testing"
)

func TestHeaviest(t *testing.T) {
	links := []pair{
		{from: 1, to: 2, links: 9}, {from: 1, to: 3, links: 1}, {from: 2, to: 1, links: 9}, {from: 2, to: 3, links: 8},
		{from: 4, to: 5, links: 1},
	}
	tests := map[int]string{1: "1>2", 2: "1>2 2>3", 3: "1>2 2>3 4>5", 4: "1>2 2>1 2>3 4>5", 5: "1>2 1>3 2>1 2>3 4>5",
		9: "1>2 1>3 2>1 2>3 4>5"}
	for n, want := range tests {
		got := ""
		for i, l := range heaviest(links, n) {
			if i > 0 {
				got += " "
			}
			got += fmt.Sprintf("%d>%d", l.From, l.To)
		}
		if got != want {
			t.Errorf("heaviest(%d) = %s; want %s", n, got, want)
		}
	}
}
