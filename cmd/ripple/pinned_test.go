package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestPinnedLibraries requires the measured or later versions of the libraries that parse untrusted
// data: older versions of some hang on hostile input.
func TestPinnedLibraries(t *testing.T) {
	text, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	least := map[string][3]int{
		"golang.org/x/net": {0, 62, 0}, "golang.org/x/text": {0, 43, 0}, "go.etcd.io/bbolt": {1, 5, 0},
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "require "))
		if len(fields) < 2 {
			continue
		}
		want, pinned := least[fields[0]]
		if !pinned {
			continue
		}
		var have [3]int
		if _, err := fmt.Sscanf(fields[1], "v%d.%d.%d", &have[0], &have[1], &have[2]); err != nil {
			t.Errorf("%s %s: %v", fields[0], fields[1], err)
		}
		for i := range have {
			if have[i] != want[i] {
				if have[i] < want[i] {
					t.Errorf("%s is %s, want v%d.%d.%d at least", fields[0], fields[1], want[0], want[1], want[2])
				}
				break
			}
		}
		delete(least, fields[0])
	}
	for name := range least {
		t.Errorf("go.mod does not name %s", name)
	}
}
