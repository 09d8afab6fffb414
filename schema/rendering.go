package schema

import "strings"

// A Rendering says how a page was rendered: recorded as its scripts left it, and what kept
// them from leaving more. It is 0 for a page that nobody tried to render.
type Rendering uint8

// What can be said of a rendering.
const (
	Rendered       Rendering = 1 << iota // title, facts and links are those that its scripts left
	RenderDenied                         // robots.txt forbids some of what it asked for
	RenderRefused                        // lists, budgets or failures kept some of that from it
	RenderCut                            // it asked for more than it may, or for too many rounds
	RenderTooLarge                       // recorded as fetched: what its scripts made is larger than a page may be
	RenderFailed                         // recorded as fetched: the browser failed at every try
)

// Tell says why a page with these signs was rendered, and what became of it; empty where
// nobody tried.
func (r Rendering) Tell(signs Shell) string {
	if r == 0 {
		return ""
	}
	why := signs.String()
	if why == "" {
		why = "always"
	}
	said := []string{why}
	for i, note := range [...]string{
		"", "some requests denied by robots.txt", "some requests refused", "not to the end",
		"as fetched: too large", "as fetched: the browser failed",
	} {
		if note != "" && r&(1<<i) != 0 {
			said = append(said, note)
		}
	}
	return strings.Join(said, "; ")
}
