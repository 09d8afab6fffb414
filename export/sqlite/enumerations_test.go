package sqlite

import (
	"slices"
	"testing"

	"github.com/sumi-ripple/ripple/schema"
)

func TestEveryLinkKindIsWritten(t *testing.T) {
	kinds := kindsByName()
	names := make([]string, len(kinds))
	for i, kind := range kinds {
		names[i] = kind.String()
	}
	if len(kinds) != int(schema.LinkKindCount) || !slices.IsSorted(names) || len(kinds) > kindPlaces {
		t.Errorf("link_kinds has %v", names)
	}
}
