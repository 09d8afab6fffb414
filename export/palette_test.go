package export_test

import (
	"testing"

	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/schema"
)

// Every class has its own colour, which GEXF and DOT share with the map.
func TestPalette(t *testing.T) {
	of := map[string]string{}
	for _, s := range export.Palette() {
		of[s.Light], of[s.Dark] = s.Class, s.Class
	}
	for c := schema.ClassDiscovered; c <= schema.ClassStub; c++ {
		if got := export.ColourOf(c).String(); of[got] != c.String() {
			t.Errorf("%s of %s is the colour of %q", got, c, of[got])
		}
	}
	if len(of) != 8 {
		t.Errorf("%d colours for four classes on two grounds", len(of))
	}
	if got := (export.RGB{0, 100, 255}).Tint(0.2).String(); got != "#cce0ff" {
		t.Errorf("a tint is %s", got)
	}
}
