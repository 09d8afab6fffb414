package page

// An element is one of those that decide whether a <title> is the document's. SVG and MathML contain elements
// of other kinds, some of which may contain HTML again, and the content of a <template> is not part of the
// document.
type element uint8

const (
	elementNone element = iota
	elementSVG
	elementMath
	elementTemplate
	elementForeignObject // it and the next two: HTML in SVG
	elementDesc
	elementTitle
	elementMi // it and those after it: HTML in MathML
	elementMo
	elementMn
	elementMs
	elementMtext
	elements
)

// A foreign is the stack of open elements of this kind. Entering and leaving take amortized constant time, in
// any order.
type foreign struct {
	open  []element
	count [elements]int
}

// within reports that the next tag belongs to SVG or MathML.
func (f *foreign) within() bool {
	last := f.last()
	return last == elementSVG || last == elementMath
}

// document reports that the next tag is an HTML element in the document itself, and not in a template, which
// is a document of its own.
func (f *foreign) document() bool { return !f.within() && f.count[elementTemplate] == 0 }

// drawing reports that the next tag or text is part of a drawing or a formula, even as HTML.
func (f *foreign) drawing() bool { return f.count[elementSVG]+f.count[elementMath] > 0 }

func (f *foreign) last() element {
	if len(f.open) == 0 {
		return elementNone
	}
	return f.open[len(f.open)-1]
}

// enter processes a start tag.
func (f *foreign) enter(name []byte, selfClosing bool) {
	e := elementOf(name)
	if f.within() {
		if breaksOut(name) {
			f.breakOut()
			return
		}
		if !selfClosing && f.has(e) {
			f.push(e)
		}
		return
	}
	if e == elementTemplate || (e == elementSVG || e == elementMath) && !selfClosing {
		f.push(e)
	}
}

// has reports whether an element is significant inside the innermost one, which is SVG or MathML.
func (f *foreign) has(e element) bool {
	if f.last() == elementSVG {
		return e == elementSVG || elementForeignObject <= e && e <= elementTitle
	}
	return e >= elementMi
}

// leave processes an end tag: it closes everything opened since its start tag, and reports whether it closed
// anything.
func (f *foreign) leave(name []byte) bool {
	e := elementOf(name)
	if f.count[e] == 0 {
		if f.within() && (string(name) == "p" || string(name) == "br") {
			f.breakOut()
			return true
		}
		return false
	}
	for f.pop() != e {
	}
	return true
}

// breakOut closes SVG and MathML, as a tag does that these cannot contain.
func (f *foreign) breakOut() {
	for f.within() {
		f.pop()
	}
}

func (f *foreign) push(e element) {
	f.open = append(f.open, e)
	f.count[e]++
}

func (f *foreign) pop() element {
	e := f.last()
	f.open = f.open[:len(f.open)-1]
	f.count[e]--
	return e
}

// elementOf recognizes a name in lower case.
func elementOf(name []byte) element {
	switch string(name) {
	case "svg":
		return elementSVG
	case "math":
		return elementMath
	case "template":
		return elementTemplate
	case "foreignobject":
		return elementForeignObject
	case "desc":
		return elementDesc
	case "title":
		return elementTitle
	case "mi":
		return elementMi
	case "mo":
		return elementMo
	case "mn":
		return elementMn
	case "ms":
		return elementMs
	case "mtext":
		return elementMtext
	}
	return elementNone
}

// breaksOut reports elements whose start tag ends SVG and MathML (HTML, "the rules for parsing tokens in
// foreign content").
func breaksOut(name []byte) bool {
	switch string(name) {
	case "b", "big", "blockquote", "body", "br", "center", "code", "dd", "div", "dl", "dt", "em", "embed",
		"h1", "h2", "h3", "h4", "h5", "h6", "head", "hr", "i", "img", "li", "listing", "menu", "meta", "nobr",
		"ol", "p", "pre", "ruby", "s", "small", "span", "strong", "strike", "sub", "sup", "table", "tt", "u", "ul",
		"var":
		return true
	}
	return false
}
