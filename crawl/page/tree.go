package page

import (
	"bytes"

	"golang.org/x/net/html"
)

// Bounds of the tree of one page.
const (
	maxTreeBytes = 1 << 20 // longer pages have none
	maxNodes     = 400_000 // about; of as many tags a page of that length consists
	maxReopened  = 512     // html.Parse nests no deeper
	maxRoots     = 100     // <html> and <body>, whose attributes html.Parse gathers
)

// treeOf parses a text; nil: that would cost too much, or html.Parse refuses it. It depends on the
// text alone. html.Parse opens unclosed <b> again in every paragraph, and takes no limit: a few
// kilobytes can become gigabytes. Of a page on which it might, such elements are spans.
func treeOf(text []byte) *html.Node {
	if len(text) > maxTreeBytes {
		return nil
	}
	g := gaugeOf(text)
	switch {
	case g.roots > maxRoots:
		return nil
	case g.nodes > maxNodes:
		text = asSpans(text)
	}
	root, err := html.ParseWithOptions(bytes.NewReader(text), html.ParseOptionEnableScripting(false))
	if err != nil {
		return nil
	}
	return root
}

// formattings are the elements that html.Parse opens again where one around them has closed them
// (HTML section 13.2.4.3, the list of active formatting elements).
const formattings = 14

// formatting numbers them from 1 on; 0: it is none.
func formatting(name []byte) int {
	var low [6]byte
	if len(name) > len(low) {
		return 0
	}
	switch string(lower(low[:0], name)) {
	case "a":
		return 1
	case "b":
		return 2
	case "big":
		return 3
	case "code":
		return 4
	case "em":
		return 5
	case "font":
		return 6
	case "i":
		return 7
	case "nobr":
		return 8
	case "s":
		return 9
	case "small":
		return 10
	case "strike":
		return 11
	case "strong":
		return 12
	case "tt":
		return 13
	case "u":
		return formattings
	}
	return 0
}

// A role in the tree that a start tag may have.
type growth uint8

const (
	grows    growth = iota
	isRoot          // html, body
	isBorder        // an end tag behind it may close nothing before it
)

func growthOf(name []byte) growth {
	var low [16]byte
	if len(name) > len(low) {
		return grows
	}
	switch string(lower(low[:0], name)) {
	case "html", "body":
		return isRoot
	case "annotation-xml", "applet", "caption", "desc", "foreignobject", "frameset", "marquee", "math", "mi", "mn", "mo",
		"ms", "mtext", "object", "select", "svg", "table", "td", "template", "th", "title":
		return isBorder
	}
	return grows
}

// A gauge tells how many elements a tree may have at most.
type gauge struct {
	open   [formattings + 1]int // formatting elements that an end tag may close
	active int                  // all that may be opened again
	nodes  int
	roots  int
}

func gaugeOf(text []byte) (g gauge) {
	var s scanner
	s.reset(text)
	for {
		switch s.next() {
		case tokenStart:
			g.start(s.name)
		case tokenEnd:
			g.end(s.name)
		case tokenEOF:
			return g
		}
		g.nodes += 2 + min(g.active, maxReopened) // with a text
	}
}

func (g *gauge) start(name []byte) {
	f := formatting(name)
	if f == 0 {
		switch growthOf(name) {
		case isRoot:
			g.roots++
		case isBorder:
			clear(g.open[:])
		}
		return
	}
	if f == formatting([]byte("a")) && g.open[f] > 0 { // which it closes
		return
	}
	g.open[f]++
	g.active++
}

func (g *gauge) end(name []byte) {
	f := formatting(name)
	if f == 0 {
		return
	}
	g.nodes += 24 // elements that it may split
	if g.open[f] > 0 {
		g.open[f]--
		g.active--
	}
}

// asSpans writes a text whose formatting elements, but for links, are spans.
func asSpans(text []byte) []byte {
	var s scanner
	s.reset(text)
	out, done := make([]byte, 0, len(text)+len(text)/2), 0
	for {
		kind := s.next()
		if kind == tokenEOF {
			return append(out, text[done:]...)
		}
		if f := formatting(s.name); kind == tokenText || f == 0 || f == formatting([]byte("a")) {
			continue
		}
		out = append(out, text[done:s.nameTo-len(s.name)]...)
		out, done = append(out, "span"...), s.nameTo
	}
}
