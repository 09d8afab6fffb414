package export

import (
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

func TestEveryPlaceAndClassIsParsed(t *testing.T) {
	for place := range schema.PlaceCount {
		set, err := ParsePlaces([]string{place.String()})
		if err != nil || !set.Has(place) {
			t.Errorf("%v: %v, %v", place, set, err)
		}
	}
	for _, class := range schema.Classes() {
		set, err := ParseClasses([]string{class.String()})
		if err != nil || !set.Has(class) {
			t.Errorf("%v: %v, %v", class, set, err)
		}
	}
}
