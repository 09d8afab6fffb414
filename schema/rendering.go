package schema

import "strings"

// A Rendering says how a page was rendered, and what limited the rendering. It is 0 if no rendering was
// attempted.
type Rendering uint16

// The flags of a rendering.
const (
	Rendered       Rendering = 1 << iota // title, facts and links are those of the rendered page
	RenderDenied                         // robots.txt denied some of its requests
	RenderRefused                        // lists, budgets or failures prevented some of its requests
	RenderCut                            // it exceeded the limit on requests
	RenderTooLarge                       // recorded as fetched: the rendered page exceeds the size limit
	RenderFailed                         // recorded as fetched: the browser failed at every attempt
	RenderEmpty                          // rendered, and still without links and with the signs of an empty page
	RenderTimedOut                       // recorded as fetched: its scripts used up the time of a page
	RenderOnce                           // not tried again, since too many pages of its host had used up their time
	RenderBudget                         // a budget of requests to a host, or the room for answers, was used up
)

// InPart reports whether a page was rendered without some of what its scripts requested.
func (r Rendering) InPart(refused Refusals) bool {
	return r&Rendered != 0 && (r&(RenderDenied|RenderRefused|RenderCut|RenderBudget) != 0 || refused.Any())
}

// Tell returns why a page with these signs was rendered, and the result, with the kinds of its requests that
// were refused. It is empty if no rendering was attempted.
func (r Rendering) Tell(signs Shell, refused Refusals) string {
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
		"as fetched: too large", "as fetched: the browser failed", "still empty",
		"as fetched: out of time", "tried once, as other pages of the host ran out of time", "cut by a budget",
	} {
		if note != "" && r&(1<<i) != 0 {
			said = append(said, note)
		}
	}
	if refused.Any() {
		said = append(said, "without "+refused.String())
	}
	return strings.Join(said, "; ")
}
