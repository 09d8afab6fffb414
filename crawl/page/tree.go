package page

import (
	"bytes"
	"slices"

	"golang.org/x/net/html"
)

// Limits of the tree of one page.
const (
	maxTreeBytes = 1 << 20   // longer pages have no tree
	maxCost      = 3_000_000 // in attributes; an element or text costs three: 140 MB
	maxOpen      = 512       // html.Parse nests no deeper
	nodeCost     = 3
	splitCost    = 32 // elements that an end tag may create, at most (HTML section 13.2.6.4.7, the adoption agency)
)

// treeOf parses a text; nil: that may cost too much, or html.Parse refuses it. It depends only on the text.
// html.Parse reopens unclosed <b> in every paragraph, with all its attributes, and accepts no limit: a few
// kilobytes can become gigabytes.
func treeOf(text []byte) *html.Node {
	if len(text) > maxTreeBytes || costOf(text) > maxCost {
		return nil
	}
	root, err := html.ParseWithOptions(bytes.NewReader(text), html.ParseOptionEnableScripting(false))
	if err != nil {
		return nil
	}
	return root
}

// costOf returns an upper bound for the cost of the tree of a text.
func costOf(text []byte) int {
	var s scanner
	var g gauge
	s.reset(text)
	for from := 0; g.cost <= maxCost; from = s.pos {
		switch s.next() {
		case tokenStart:
			g.start(s.name, &s.attrs)
		case tokenEnd:
			g.end(s.name)
		case tokenEOF:
			return g.cost
		}
		if s.pos-from > 3 { // there may be a text
			g.cost += nodeCost
		}
	}
	return g.cost
}

// A gauge tracks which formatting elements html.Parse may have to reopen (HTML section 13.2.4.3). If in
// doubt, it assumes that they are open.
type gauge struct {
	cost     int
	open     []opened // formatting elements
	weight   int      // total weight of these
	heaviest int      // largest weight so far
	blocks   int      // start tags so far that may close elements
	borders  []border // elements inside which an end tag closes nothing outside
	drawn    [][]byte // names of the open elements of drawings and formulas
	gathered int      // attributes of <html> and <body>, which are merged again with each
}

// opened is a formatting element.
type opened struct {
	name   kind
	weight int
	blocks int // number of blocks before it
}

// A border is an element that separates those inside from those outside.
type border struct {
	name  kind
	open  int  // number of formatting elements outside
	drawn int  // number of drawn elements outside
	cell  bool // of a table: its end closes everything inside
}

// kind is the role of an element in a tree.
type kind uint8

const (
	kindBlock  kind = iota // may close others
	kindInline             // its start tag closes nothing
	kindRoot               // html, body
	kindRow                // parts of a table around cells
	kindCell               // td, th
	kindTable              // this and the following are borders, like cell
	kindObject             // applet, marquee, object
	kindCaption
	kindChoice // select
	kindTemplate
	kindForeign     // svg, math
	kindIntegration // elements of these that may contain HTML
	kindFrameset
	kindLeft // was svg or math, and may be closed
	kindLink // this and the following are formatting elements: a
	kindBold
	kindBig
	kindCode
	kindEmphasis
	kindFont
	kindItalic
	kindNobr
	kindStruck
	kindSmall
	kindStrike
	kindStrong
	kindTeletype
	kindUnderlined
)

func (k kind) formats() bool { return k >= kindLink }

func (k kind) isBorder() bool { return kindCell <= k && k < kindLink }

// kindOf recognizes a name, ignoring case.
func kindOf(name []byte) kind {
	var low [16]byte
	if len(name) > len(low) {
		return kindBlock
	}
	switch string(lower(low[:0], name)) {
	case "abbr", "bdi", "bdo", "br", "cite", "del", "dfn", "iframe", "img", "input", "ins", "kbd", "label", "link", "mark",
		"meta", "noscript", "q", "samp", "script", "span", "style", "sub", "sup", "textarea", "time", "var", "wbr":
		return kindInline
	case "html", "body":
		return kindRoot
	case "tr", "tbody", "thead", "tfoot", "col", "colgroup":
		return kindRow
	case "td", "th":
		return kindCell
	case "table":
		return kindTable
	case "applet", "marquee", "object":
		return kindObject
	case "caption":
		return kindCaption
	case "select":
		return kindChoice
	case "template":
		return kindTemplate
	case "svg", "math":
		return kindForeign
	case "annotation-xml", "desc", "foreignobject", "mi", "mn", "mo", "ms", "mtext", "title":
		return kindIntegration
	case "frameset":
		return kindFrameset
	}
	return formatting(name)
}

func formatting(name []byte) kind {
	var low [6]byte
	if len(name) > len(low) {
		return kindBlock
	}
	switch string(lower(low[:0], name)) {
	case "a":
		return kindLink
	case "b":
		return kindBold
	case "big":
		return kindBig
	case "code":
		return kindCode
	case "em":
		return kindEmphasis
	case "font":
		return kindFont
	case "i":
		return kindItalic
	case "nobr":
		return kindNobr
	case "s":
		return kindStruck
	case "small":
		return kindSmall
	case "strike":
		return kindStrike
	case "strong":
		return kindStrong
	case "tt":
		return kindTeletype
	case "u":
		return kindUnderlined
	}
	return kindBlock
}

// start processes a start tag.
func (g *gauge) start(name []byte, attrs *attributes) {
	k, weight := kindOf(name), nodeCost+attrs.all
	g.cost += weight
	switch {
	case g.draws(k, name, attrs.selfClosing):
		return
	case (k == kindLink || k == kindNobr) && g.has(k): // the tag closes an earlier one
		g.close(k)
		fallthrough
	case k.formats():
		g.format(k, weight)
		return
	case k == kindInline:
		return
	}
	g.cost += g.weight
	g.blocks++
	switch {
	case k == kindRoot:
		g.gathered += attrs.all
		g.cost += g.gathered
	case k == kindRow || k == kindCell || k == kindCaption:
		g.endCell()
	}
	if k.isBorder() {
		g.enter(border{name: k, cell: k == kindCell && g.top() == kindTable})
	}
}

// draws processes a start tag that begins a drawing or a formula, or belongs to one: it closes nothing.
func (g *gauge) draws(k kind, name []byte, selfClosing bool) bool {
	var low [16]byte
	within := g.top() == kindForeign
	switch {
	case within && (k.formats() && k != kindLink || len(name) <= len(low) && breaksOut(lower(low[:0], name))):
		g.leaveDrawing()
		return false
	case k == kindForeign:
		if !selfClosing {
			g.enter(border{name: k})
		}
		return true
	case !within || k != kindBlock && k != kindInline:
		return false
	case !selfClosing:
		g.drawn = append(g.drawn, name)
	}
	return true
}

// drew reports whether an end tag closes the innermost element of a drawing. Any other end tag may lead out
// of the drawing.
func (g *gauge) drew(k kind, name []byte) bool {
	if g.top() != kindForeign {
		return false
	}
	b := &g.borders[len(g.borders)-1]
	switch n := len(g.drawn); {
	case k == kindForeign && n == b.drawn:
		g.borders = g.borders[:len(g.borders)-1]
		return true
	case n > b.drawn && bytes.EqualFold(g.drawn[n-1], name):
		g.drawn = g.drawn[:n-1]
		return true
	}
	g.leaveDrawing()
	return false
}

// leaveDrawing marks the innermost border as one of unknown state.
func (g *gauge) leaveDrawing() { g.borders[len(g.borders)-1].name = kindLeft }

func (g *gauge) enter(b border) {
	b.open, b.drawn = len(g.open), len(g.drawn)
	g.borders = append(g.borders, b)
}

func (g *gauge) format(k kind, weight int) {
	g.open = append(g.open, opened{k, weight, g.blocks})
	g.weight += weight
	g.heaviest = max(g.heaviest, weight)
	if len(g.open) > maxOpen {
		g.cost = maxCost + 1
	}
}

// end processes an end tag.
func (g *gauge) end(name []byte) {
	k := kindOf(name)
	switch {
	case g.drew(k, name):
		return
	case k.formats():
		g.close(k)
		return
	}
	g.cost += g.weight
	if k == kindRow || k == kindCell || k == kindTable {
		g.endCell()
	}
	if k.isBorder() && g.top() == k {
		g.borders = g.borders[:len(g.borders)-1]
	}
}

// close processes the end tag of a formatting element, even an implied one.
func (g *gauge) close(k kind) {
	at := g.last(k)
	if at < 0 {
		if g.cost += g.weight; g.has(k) { // a border may not be one after all
			g.cost += splitCost * g.heaviest
		}
		return
	}
	e := g.open[at]
	if at < len(g.open)-1 || e.blocks < g.blocks {
		g.cost += g.weight + splitCost*g.heaviest
	}
	g.weight -= e.weight
	g.open = append(g.open[:at], g.open[at+1:]...)
}

// has reports whether an element of a kind is open, inside or outside.
func (g *gauge) has(k kind) bool {
	return slices.ContainsFunc(g.open, func(e opened) bool { return e.name == k })
}

// last returns the position of the last element of a kind that an end tag may close; -1: none.
func (g *gauge) last(k kind) int {
	floor := 0
	if n := len(g.borders); n > 0 {
		floor = g.borders[n-1].open
	}
	for i := len(g.open) - 1; i >= floor; i-- {
		if g.open[i].name == k {
			return i
		}
	}
	return -1
}

// top returns the innermost border; block: there is none.
func (g *gauge) top() kind {
	if n := len(g.borders); n > 0 {
		return g.borders[n-1].name
	}
	return kindBlock
}

// endCell ends the cell if the innermost border is one.
func (g *gauge) endCell() {
	n := len(g.borders)
	if n == 0 || !g.borders[n-1].cell {
		return
	}
	inside := g.borders[n-1].open
	for _, e := range g.open[inside:] {
		g.weight -= e.weight
	}
	g.open, g.borders = g.open[:inside], g.borders[:n-1]
}
