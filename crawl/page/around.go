package page

import "bytes"

// maxSurroundings is how many open elements are followed: html.Parse nests no deeper.
const maxSurroundings = 512

// around is the stack of all open elements of a page with drawings or formulas. In those, an end
// tag that closes nothing of theirs may close an element of HTML around them, and them with it
// (HTML, section 13.2.6.5, "any other end tag").
type around struct {
	on   bool // a drawing or formula was met: pages without any are not followed
	open []surrounding
}

// A surrounding is an open element.
type surrounding struct {
	name    []byte // as written
	foreign bool   // it is of SVG or MathML
	within  int    // elements of [foreign] that were open
}

// enter follows a start tag. within is the number of elements of [foreign] that are open around it.
func (a *around) enter(name []byte, t tag, isForeign bool, within int) {
	if a.on && len(a.open) < maxSurroundings && (isForeign || !t.isRaw() && !isVoid(name)) {
		a.open = append(a.open, surrounding{name, isForeign, within})
	}
}

// leave follows an end tag. It reports whether the tag closes an open element, and how many
// elements of [foreign] are open then.
func (a *around) leave(name []byte) (within int, ok bool) {
	k, html := kindOf(name), false
	for i := len(a.open) - 1; i >= 0; i-- {
		e := &a.open[i]
		html = html || !e.foreign
		switch {
		case bytes.EqualFold(e.name, name) && (!html || !e.foreign):
			a.open = a.open[:i]
			return e.within, true
		case html && (e.foreign || a.bars(k, e.name)):
			return 0, false
		}
	}
	return 0, false
}

// bars reports whether an end tag of a kind closes nothing outside the element of that name.
func (a *around) bars(k kind, outer []byte) bool {
	switch o := kindOf(outer); {
	case k == kindRow || k == kindCell || k == kindTable || k == kindCaption:
		return o == kindTable || o == kindTemplate
	case o.isBorder() || o == kindRoot:
		return true
	case k == kindInline || k == kindChoice:
		return o == kindBlock || o == kindRow
	}
	return false
}

// trim drops the elements that were opened in those of [foreign] that are not open any more.
func (a *around) trim(within int) {
	for n := len(a.open); n > 0 && a.open[n-1].within > within; n-- {
		a.open = a.open[:n-1]
	}
}
