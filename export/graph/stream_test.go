package graph

import (
	"io"

	"github.com/sumi-ripple/ripple/export"
)

// Stream writes a graph to a writer, in a format that is one file.
func (f Format) Stream(w io.Writer, g *export.Graph) error {
	if err := prepare(g); err != nil {
		return err
	}
	return f.write(w, g, Options{})
}
