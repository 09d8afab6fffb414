package export

import (
	"fmt"
	"strings"

	"github.com/sumi-ripple/ripple/schema"
)

// Options select the contents of the graph. The zero value is the page graph of the survey's run.
type Options struct {
	Level Level

	// All includes every page and link that any run saw, even if they have disappeared. Otherwise only
	// those seen in the last completed run or later are included.
	All bool

	Without   Places       // links at these places are left out; only anchors and frames have a place
	Kinds     schema.Kinds // links of none of these kinds are left out; 0: all are included
	MinWeight int          // links with a smaller weight are left out
	Only      Classes      // nodes of other classes are left out, with their links

	Collapse bool // at page level, the pages of a cluster of near-duplicates are one node

	// Inlinks adds the hosts outside the terrain that link to origins by the web graph that was read last, whatever else
	// selects nodes and links.
	Inlinks bool

	Counted Counted // links used for measures and the picture

	Progress Progress // nil: no progress is reported

	Columns *Columns // columns of nodes and links; nil: [AllColumns]
}

// placed is the set of kinds of links that have a place in the page.
const placed = schema.Kinds(1<<schema.LinkAnchor | 1<<schema.LinkFrame)

// links reports whether a link between pages is included.
func (o *Options) links(l schema.Link) bool {
	if o.Kinds != 0 && l.Kinds&o.Kinds == 0 {
		return false
	}
	if l.Kinds.Has(schema.LinkRedirect) || l.Kinds.Has(schema.LinkCanonical) || l.Kinds.Has(schema.LinkRefresh) ||
		l.Kinds&placed == 0 {
		return true
	}
	return !o.Without.Has(l.Place) && !(l.SiteWide && o.Without.Has(siteWide))
}

// String describes the omitted parts. It is empty if there are none.
func (o Options) String() string {
	var parts []string
	var places, kinds, classes []string
	for p := range schema.PlaceCount {
		if o.Without.Has(p) {
			places = append(places, p.String())
		}
	}
	for _, k := range schema.LinkKinds() {
		if o.Kinds.Has(k) {
			kinds = append(kinds, k.String())
		}
	}
	for c := range schema.ClassCount {
		if o.Only != 0 && o.Only.Has(c) {
			classes = append(classes, c.String())
		}
	}
	if o.Collapse {
		parts = append(parts, "near-duplicates are one node")
	}
	if len(places) > 0 {
		parts = append(parts, "without links in "+strings.Join(places, ", "))
	}
	if o.Without.Has(siteWide) {
		parts = append(parts, "without site-wide links")
	}
	if len(kinds) > 0 {
		parts = append(parts, "only links of kind "+strings.Join(kinds, ", "))
	}
	if o.Counted == AllLinks {
		parts = append(parts, "all links counted")
	}
	if o.MinWeight > 1 {
		parts = append(parts, fmt.Sprintf("links of weight %d or more", o.MinWeight))
	}
	if len(classes) > 0 {
		parts = append(parts, "only "+strings.Join(classes, ", "))
	}
	return strings.Join(parts, "; ")
}
