package page

import (
	"bytes"
	"slices"

	"github.com/sumi-ripple/ripple/schema"
)

// A nesting is the stack of open elements that determine the place of a link, and of the containers usually
// closed together with them: an end tag closes everything opened since its start tag, and one without a start
// tag nothing. A <nav> without an end tag thus ends with the <div> around it.
//
// An element's place is given by its ARIA landmark role, or else by its name. Any element may have a role;
// one that is not a container is tracked by name from its first use with a role.
//
// Pushing and popping take amortized constant time, in any order.
type nesting struct {
	open   []level
	others [][]byte              // names of elements with a landmark role that are not containers
	count  [tags + maxOthers]int // open elements of each tag; after the tags, of others
}

// noPlace is the place of a link in the header of the answer or in a <link>: a visible link to the same target
// decides where it is.
const noPlace = schema.PlaceCount

// maxOthers is the number of such names tracked on one page; roles of further ones are ignored.
const maxOthers = 16

// A level is an open element and the place of its content.
type level struct {
	tag   tag
	place schema.Place
}

func (n *nesting) reset() {
	clear(n.others) // releases the body
	*n = nesting{open: n.open[:0], others: n.others[:0]}
}

// place returns the place of the nearest open element that has one.
func (n *nesting) place() schema.Place {
	if len(n.open) == 0 {
		return schema.PlaceBody
	}
	return n.open[len(n.open)-1].place
}

// enter processes the start tag of an element with a name and a role; nil: none.
func (n *nesting) enter(t tag, name, role []byte) {
	var place schema.Place
	marked := false
	if len(role) > 0 {
		place, marked = landmark(role)
	}
	if t = n.follows(t, name, marked); t == tagOther {
		return
	}
	if !marked {
		place = n.placeIn(t)
	}
	n.count[t]++
	n.open = append(n.open, level{t, place})
}

// leave processes an end tag.
func (n *nesting) leave(t tag, name []byte) {
	if t = n.follows(t, name, false); n.count[t] == 0 {
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

// follows returns the tag that an element is counted as, or [tagOther] if it is not tracked. A marked element
// is tracked from now on.
func (n *nesting) follows(t tag, name []byte, marked bool) tag {
	switch {
	case t.nests():
		return t
	case !marked && len(n.others) == 0: // on nearly all pages
		return tagOther
	}
	i := slices.IndexFunc(n.others, func(other []byte) bool { return bytes.EqualFold(other, name) })
	switch {
	case i >= 0:
	case !marked || len(n.others) == maxOthers || !closes(name):
		return tagOther
	default:
		i = len(n.others)
		n.others = append(n.others, name)
	}
	return tags + tag(i)
}

// placeIn returns the place of content in an element opened here, by its name.
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

// landmark returns the place named by a role attribute; of several roles the first landmark counts.
func landmark(roles []byte) (schema.Place, bool) {
	var low [len("complementary")]byte
	for role := range bytes.FieldsFuncSeq(roles, isSeparator) {
		if len(role) > len(low) {
			continue
		}
		switch string(lower(low[:0], role)) {
		case "main":
			return schema.PlaceMain, true
		case "complementary":
			return schema.PlaceAside, true
		case "banner":
			return schema.PlaceHeader, true
		case "contentinfo":
			return schema.PlaceFooter, true
		case "navigation":
			return schema.PlaceNav, true
		}
	}
	return 0, false
}

// closes reports whether an element, if written correctly, ends only with its own end tag: it has content,
// and its end tag is required.
func closes(name []byte) bool {
	var low [len("colgroup")]byte
	if len(name) > len(low) {
		return true
	}
	switch string(lower(low[:0], name)) {
	case "html", "head", "body", "p", "li", "dt", "dd", "rt", "rp", "option", "optgroup", "colgroup", "caption",
		"thead", "tbody", "tfoot", "tr", "td", "th",
		"br", "hr", "col", "embed", "input", "keygen", "param", "source", "track", "wbr":
		return false
	}
	return true
}
