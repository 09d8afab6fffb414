package graph

import (
	"strconv"

	"github.com/sumi-ripple/ripple/export"
)

// A spelled is a column with the text before each of its cells, built once.
type spelled[T any] struct {
	export.Column[T]
	before string
}

// spell builds the text before the cells of columns.
func spell[T any](columns []export.Column[T], before func(i int, name string) string) []spelled[T] {
	all := make([]spelled[T], len(columns))
	for i, c := range columns {
		all[i] = spelled[T]{c, before(i, c.Name)}
	}
	return all
}

// kindName returns a kind as GEXF and GraphML name it.
func kindName(k export.Kind) string { return [...]string{"string", "long", "double"}[k] }

// appendNumber appends a cell that is not a text.
func appendNumber(b []byte, v export.Value, k export.Kind) []byte {
	if k == export.Real {
		return appendReal(b, v.Real)
	}
	return strconv.AppendInt(b, v.Count, 10)
}
