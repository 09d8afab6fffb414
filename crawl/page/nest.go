package page

import (
	"bytes"
	"slices"
)

// nest follows the start tag of an element that others may be inside of.
func (g *gauge) nest(name []byte, selfClosing bool) {
	g.step(min(len(g.nested), maxOpen))
	switch n := len(g.nested); {
	case standsAlone(name), selfClosing && (g.top() == kindForeign || kindOf(name) == kindForeign):
	case n > 0 && isItem(name) && isItem(g.nested[n-1]) && name[0]|32 == g.nested[n-1][0]|32:
		g.nested[n-1] = name // which it ends
	default:
		g.nested = append(g.nested, name)
	}
}

// unnest follows an end tag: it closes the last element of its name.
func (g *gauge) unnest(name []byte) {
	g.step(min(len(g.nested), maxOpen))
	if standsAlone(name) {
		return
	}
	floor, last := 0, len(g.nested)-1
	if n := len(g.borders); n > 0 {
		floor = g.borders[n-1].nest
	}
	i := last
	for i >= floor && !bytes.EqualFold(g.nested[i], name) {
		i--
	}
	if g.step(last - i); i >= floor {
		g.nested = slices.Delete(g.nested, i, i+1)
	}
}

// step counts what html.Parse may look at for a tag, which are all open elements.
func (g *gauge) step(elements int) {
	if g.steps += elements; g.steps > maxSteps {
		g.cost = maxCost + 1
	}
}

// standsAlone reports whether no element of a name is inside of another of that name but by a third.
func standsAlone(name []byte) bool {
	var low [16]byte
	if len(name) > len(low) {
		return false
	}
	switch string(lower(low[:0], name)) {
	case "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr",
		"p", "td", "th", "tr", "tbody", "thead", "tfoot", "colgroup", "option":
		return true
	}
	return false
}

// isItem reports whether a name is that of an item of a list; those of one kind of list have one first letter.
func isItem(name []byte) bool {
	return len(name) == 2 && (bytes.EqualFold(name, []byte("li")) || bytes.EqualFold(name, []byte("dt")) ||
		bytes.EqualFold(name, []byte("dd")))
}
