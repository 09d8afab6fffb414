package export

import (
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/schema"
)

func TestEveryClassHasItsColour(t *testing.T) {
	for _, class := range schema.Classes() {
		if ColourOf(class) == (RGB{}) {
			t.Errorf("%v has no colour", class)
		}
	}
	if n := len(Palette()); n != int(schema.ClassCount) {
		t.Errorf("the legend has %d classes", n)
	}
}

func TestEveryPlaceKindAndClassIsParsed(t *testing.T) {
	for place := range schema.PlaceCount {
		set, err := ParsePlaces([]string{place.String()})
		if err != nil || !set.Has(place) {
			t.Errorf("%v: %v, %v", place, set, err)
		}
	}
	for _, kind := range schema.LinkKinds() {
		set, err := ParseKinds([]string{kind.String()})
		if err != nil || set != schema.Kinds(0).Add(kind) {
			t.Errorf("%v: %v, %v", kind, set, err)
		}
		only := Options{Kinds: set}
		if !only.links(schema.Link{Kinds: set.Add(schema.LinkAnchor)}) || !strings.HasSuffix(only.String(), " "+kind.String()) {
			t.Errorf("%v: a link of that kind is left out, with %q", kind, only)
		}
		for _, other := range schema.LinkKinds() {
			if other != kind && only.links(schema.Link{Kinds: schema.Kinds(0).Add(other)}) {
				t.Errorf("only %v: %v is included", kind, other)
			}
		}
	}
	for _, class := range schema.Classes() {
		set, err := ParseClasses([]string{class.String()})
		if err != nil || !set.Has(class) {
			t.Errorf("%v: %v, %v", class, set, err)
		}
	}
}
