package summary

import (
	"slices"
	"testing"

	"github.com/sumi-ripple/ripple/kv/survey"
)

// The section on coverage counts every coverage that a visitable host can have.
func TestEveryCoverIsCounted(t *testing.T) {
	for _, c := range survey.Covers() {
		named := slices.ContainsFunc(covers(), func(n coverName) bool { return n.cover == c })
		if named == (c == survey.CoverListed) {
			t.Errorf("%v: counted: %t", c, named)
		}
		if c.String() == "" {
			t.Errorf("cover %d has no name", c)
		}
	}
}
