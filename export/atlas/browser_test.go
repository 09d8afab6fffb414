package atlas

import (
	"bytes"
	"os"
	"path/filepath"

	"github.com/sumi-ripple/ripple/export/browsertest"
)

// visit opens a map from disk and waits for its first picture.
func visit(b *browsertest.Tab, m Map) {
	b.Helper()
	var file bytes.Buffer
	if err := Write(&file, m); err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(b.TempDir(), "map.html")
	if err := os.WriteFile(path, file.Bytes(), 0o600); err != nil {
		b.Fatal(err)
	}
	b.Go("file://" + path)
	b.Wait(`document.documentElement.dataset.drawn`)
}

// sample returns a finished map of about n nodes.
func sample(n int) Map {
	nodes, edges := terrain(n, 1)
	return Map{Title: "Small web of letters", Level: "host", Run: "3", Status: "complete", Nodes: nodes, Edges: edges,
		Points: Layout(len(nodes), edges, Radii(nodes), 1, nil)}
}
