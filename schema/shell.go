package schema

import "strings"

// A Shell is the set of signs that a page is empty without its scripts. It is 0 for a page with
// content, and for one whose signs are too weak together.
type Shell uint8

// The signs.
const (
	ShellMount    Shell = 1 << iota // an empty element of the kind that applications mount into
	ShellBlank                      // nothing visible, except a notice that something is loading
	ShellBundle                     // scripts that can build a page
	ShellAsks                       // a <noscript> asks for JavaScript
	ShellHydrates                   // a framework's marker, and no content yet
)

// String lists the signs; it is empty if there are none.
func (s Shell) String() string {
	var signs []string
	for i, name := range [...]string{
		"empty mount element", "nothing to see", "script bundle", "noscript asks for JavaScript",
		"content comes by script",
	} {
		if s&(1<<i) != 0 {
			signs = append(signs, name)
		}
	}
	return strings.Join(signs, ", ")
}
