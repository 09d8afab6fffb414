package broken

import (
	"slices"
	"strings"
)

// NoOrigin chooses the links on pages of no origin.
const NoOrigin = "none"

// A Choice selects broken links; empty fields select all.
type Choice struct {
	Origin string // of the pages with the links
	State  string // class of their targets
	Search string // a part of a URL, of the anchor, or of why the target is broken
}

// Of returns those links that are chosen.
func (c Choice) Of(links []Link) []Link {
	if c == (Choice{}) {
		return links
	}
	c.Search = strings.ToLower(c.Search)
	return slices.DeleteFunc(slices.Clone(links), func(l Link) bool { return !c.has(&l) })
}

// OfWalled returns those links to walled pages that are chosen. A choice of a state has none: a walled page is not
// known to be in one.
func (c Choice) OfWalled(links []Link) []Link {
	if c.State != "" {
		return nil
	}
	return c.Of(links)
}

func (c *Choice) has(l *Link) bool {
	switch {
	case c.Origin != "" && c.Origin != l.Origin && (c.Origin != NoOrigin || l.Origin != ""):
		return false
	case c.State != "" && c.State != l.Class():
		return false
	}
	return c.Search == "" || slices.ContainsFunc([]string{l.From, l.To, l.Link.Anchor, l.Why},
		func(text string) bool { return strings.Contains(strings.ToLower(text), c.Search) })
}
