package page

import "bytes"

// maxSurroundings is how many open elements are tracked: html.Parse nests no deeper.
const maxSurroundings = 512

// around is the stack of all open elements of a page with drawings or formulas. An end tag inside these that
// matches none of their elements may close an HTML element around them, and them with it (HTML, section
// 13.2.6.5, "any other end tag").
type around struct {
	on   bool // a drawing or formula was found; pages without any are not tracked
	open []surrounding
}

// A surrounding is an open element.
type surrounding struct {
	name    []byte // as written
	foreign bool   // it belongs to SVG or MathML
	within  int    // number of elements of [foreign] that were open
}

// enter processes a start tag. within is the number of elements of [foreign] open around it.
func (a *around) enter(name []byte, t tag, isForeign bool, within int) {
	if a.on && len(a.open) < maxSurroundings && (isForeign || !t.isRaw() && !isVoid(name)) {
		a.open = append(a.open, surrounding{name, isForeign, within})
	}
}

// leave processes an end tag. It reports whether the tag closes an open element, and how many elements of
// [foreign] are then open.
func (a *around) leave(name []byte) (within int, ok bool) {
	html := false
	for i := len(a.open) - 1; i >= 0; i-- {
		e := &a.open[i]
		html = html || !e.foreign
		switch {
		case bytes.EqualFold(e.name, name) && (!html || !e.foreign):
			a.open = a.open[:i]
			return e.within, true
		case html && (e.foreign || a.bars(name, e.name)):
			return 0, false
		}
	}
	return 0, false
}

// bars reports whether an end tag with a name closes nothing outside the element outer.
func (a *around) bars(name, outer []byte) bool {
	switch k, o := kindOf(name), kindOf(outer); {
	case k == kindRow || k == kindCell || k == kindTable || k == kindCaption:
		return o == kindTable || o == kindTemplate
	case o.isBorder() || o == kindRoot:
		return true
	case k == kindInline || k == kindChoice:
		return o == kindBlock || o == kindRow
	}
	return false
}

// trim removes the elements that were opened inside elements of [foreign] that are no longer open.
func (a *around) trim(within int) {
	for n := len(a.open); n > 0 && a.open[n-1].within > within; n-- {
		a.open = a.open[:n-1]
	}
}
