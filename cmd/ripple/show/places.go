package show

import (
	"io"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
)

// printPlaces prints how many links are in each place.
func printPlaces(w io.Writer, places []answer.PlaceCount) {
	t := term.NewTable(w)
	t.Row("  place", "links", "pages", "anchors", "origins")
	for _, p := range places {
		t.Row("  "+p.Place, term.Commas(p.Links), term.Commas(p.Pages), term.Commas(p.Anchors), term.Commas(p.Origins))
	}
	_ = t.Flush() // writing to a builder cannot fail
}

// chosenPlace says which links are listed, after what they are.
func chosenPlace(place string) string {
	if place == "" {
		return ""
	}
	return " (--place " + place + ")"
}
