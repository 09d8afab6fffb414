package graph

import (
	"strconv"

	"github.com/sumi-ripple/ripple/export"
)

// kindName is how GEXF and GraphML call a kind.
func kindName(k export.Kind) string { return [...]string{"string", "long", "double"}[k] }

// appendNumber appends a cell that is no text.
func appendNumber(b []byte, v export.Value, k export.Kind) []byte {
	if k == export.Real {
		return appendReal(b, v.Real)
	}
	return strconv.AppendInt(b, v.Count, 10)
}
