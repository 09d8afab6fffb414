package schema

import (
	"fmt"
	"strings"
	"testing"
)

// Every value of an enumeration needs its own name, because outputs and parsers identify it by name.
func TestEveryValueHasItsName(t *testing.T) {
	t.Run("states", func(t *testing.T) { named(t, States()) })
	t.Run("classes", func(t *testing.T) { named(t, Classes()) })
	t.Run("link kinds", func(t *testing.T) { named(t, LinkKinds()) })
	t.Run("places", func(t *testing.T) { named(t, all(PlaceCount)) })
	t.Run("troubles", func(t *testing.T) { named(t, TroubleKinds()) })
	t.Run("causes", func(t *testing.T) { named(t, all(causeCount)) })
}

func named[E fmt.Stringer](t *testing.T, values []E) {
	t.Helper()
	names := map[string]bool{}
	for i, v := range values {
		name := v.String()
		if name == "" || name == "unknown" || strings.Contains(name, "(") || names[name] {
			t.Errorf("value %d is called %q", i, name)
		}
		names[name] = true
	}
	if len(names) < 4 {
		t.Errorf("%d values", len(names))
	}
}

func TestFirstOfEveryKind(t *testing.T) {
	for _, k := range LinkKinds() {
		if got := Kinds(0).Add(k).First(); got != k {
			t.Errorf("the first of %v alone is %v", k, got)
		}
	}
}
