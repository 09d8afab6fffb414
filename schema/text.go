package schema

import "github.com/sumi-ripple/ripple/schema/inert"

// Clean makes text from a peer fit for a log, a terminal or the store; see
// [inert.Line].
func Clean(s string, max int) string { return inert.Line(s, max) }
