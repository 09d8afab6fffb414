package schema

import "github.com/sumi-ripple/ripple/schema/sanitize"

// Clean makes text from a peer fit for a log, a terminal or the store; see
// [sanitize.Line].
func Clean(s string, max int) string { return sanitize.Line(s, max) }
