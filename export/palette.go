package export

import (
	"fmt"

	"github.com/sumi-ripple/ripple/export/atlas"
	"github.com/sumi-ripple/ripple/schema"
)

// A swatch is the colour of a class, on a light and a dark background.
type swatch struct {
	class       schema.Class
	light, dark RGB
}

// swatches returns the colours of the classes in every picture of a graph, in the order of the legend.
func swatches() []swatch {
	return []swatch{
		{schema.ClassQuality, RGB{15, 143, 126}, RGB{63, 208, 184}},
		{schema.ClassDiscovered, RGB{74, 111, 220}, RGB{127, 157, 255}},
		{schema.ClassStub, RGB{201, 138, 18}, RGB{242, 189, 77}},
		{schema.ClassBlacklisted, RGB{200, 67, 63}, RGB{255, 125, 118}},
	}
}

// Palette returns the colours of the classes in the form that the map needs.
func Palette() (all []atlas.Shade) {
	for _, s := range swatches() {
		all = append(all, atlas.Shade{Class: s.class.String(), Light: s.light.String(), Dark: s.dark.String()})
	}
	return all
}

// Colour returns the colour of the node's class on a light background; hosts outside the terrain have a colour of their
// own.
func (n *Node) Colour() RGB {
	if n.Outside != nil {
		return RGB{124, 122, 137}
	}
	return ColourOf(n.Class)
}

// ColourOf returns the colour of a class on a light background.
func ColourOf(c schema.Class) RGB {
	for _, s := range swatches() {
		if s.class == c {
			return s.light
		}
	}
	return RGB{}
}

// An RGB is a colour as red, green and blue, 0 to 255 each.
type RGB [3]int

// Tint returns the colour mixed with white; share is its part, 0 to 1.
func (c RGB) Tint(share float64) RGB {
	for i, part := range c {
		c[i] = 255 - int(share*float64(255-part))
	}
	return c
}

// String returns the colour as in CSS and DOT, "#0f8f7e".
func (c RGB) String() string { return fmt.Sprintf("#%02x%02x%02x", c[0], c[1], c[2]) }
