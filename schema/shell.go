package schema

import "strings"

// A Shell is the set of signs that a page shows nothing without its scripts. It is 0 for
// a page that shows something, and for one whose signs are too weak together.
type Shell uint8

// The signs.
const (
	ShellMount  Shell = 1 << iota // an element in which applications show themselves is empty
	ShellBlank                    // there is nothing to see at all, but a notice that something will come
	ShellBundle                   // there are scripts that can build a page
	ShellAsks                     // a <noscript> asks for JavaScript
)

// String names the signs; it is empty for none.
func (s Shell) String() string {
	var signs []string
	for i, name := range [...]string{
		"empty mount element", "nothing to see", "script bundle", "noscript asks for JavaScript",
	} {
		if s&(1<<i) != 0 {
			signs = append(signs, name)
		}
	}
	return strings.Join(signs, ", ")
}
