package export

import (
	"fmt"
	"testing"
)

func TestHeaviest(t *testing.T) {
	links := []Link{
		{From: 1, To: 2, Links: 9}, {From: 1, To: 3, Links: 1}, {From: 2, To: 1, Links: 9}, {From: 2, To: 3, Links: 8},
		{From: 4, To: 5, Links: 1},
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
