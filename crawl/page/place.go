package page

import "github.com/sumi-ripple/ripple/schema"

// A nesting is the stack of open elements that decide where a link stands, and
// of the containers they are usually closed with: an end tag closes everything
// opened since its start tag, one without a start tag nothing. So a <nav> whose
// end tag is missing ends with the <div> around it.
//
// Pushing and popping cost constant time on average, whatever the order.
type nesting struct {
	open  []level
	count [tagNav + 1]int // open elements of each tag
}

// A level is an open element and the place of what stands in it.
type level struct {
	tag   tag
	place schema.Place
}

func (n *nesting) reset() { *n = nesting{open: n.open[:0]} }

// place is that of the nearest open element which has one.
func (n *nesting) place() schema.Place {
	if len(n.open) == 0 {
		return schema.PlaceBody
	}
	return n.open[len(n.open)-1].place
}

func (n *nesting) push(t tag) {
	n.count[t]++
	n.open = append(n.open, level{t, n.placeIn(t)})
}

func (n *nesting) pop(t tag) {
	if n.count[t] == 0 {
		return
	}
	for {
		last := n.open[len(n.open)-1].tag
		n.open = n.open[:len(n.open)-1]
		n.count[last]--
		if last == t {
			return
		}
	}
}

// placeIn is the place of what stands in an element opened here.
func (n *nesting) placeIn(t tag) schema.Place {
	switch t {
	case tagMain:
		return schema.PlaceMain
	case tagAside:
		return schema.PlaceAside
	case tagHeader:
		return schema.PlaceHeader
	case tagFooter:
		return schema.PlaceFooter
	case tagNav:
		return schema.PlaceNav
	}
	return n.place()
}
