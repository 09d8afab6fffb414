package decide

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/shard"
	"github.com/sumi-ripple/ripple/schema/webgraph"
)

// writeGraph writes a graph in which n hosts link to a.test, and returns its files.
func writeGraph(t *testing.T, n int) *webgraph.Files {
	t.Helper()
	var vertices, edges strings.Builder
	for id := range n {
		fmt.Fprintf(&vertices, "%d\tnet.h%06d\n", id, id)
		fmt.Fprintf(&edges, "%d\t%d\n", id, n)
	}
	fmt.Fprintf(&vertices, "%d\ttest.a\n", n)
	prefix := filepath.Join(t.TempDir(), "own-host")
	for list, text := range map[string]string{"vertices": vertices.String(), "edges": edges.String()} {
		if err := os.WriteFile(prefix+"-"+list+".txt", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f, err := webgraph.Find(prefix, "")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// What an import leaves that ends while it writes does not count, and the next import removes it.
func TestGraphImportEnds(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal)
	state := w.Store.Path()
	if err := w.Store.Close(); err != nil {
		t.Fatal(err)
	}
	store, err := kv.Open(state, kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	killed := errors.New("killed")
	writer := &inlinkWriter{ctx: ctx, store: store}
	for n := range 2 * inlinkCommit {
		if n == 3*inlinkCommit/2 {
			cancel(killed)
		}
		if err = writer.put(&schema.Inlink{Host: fmt.Sprintf("old%d.net", n), Origins: []uint32{0}}); err != nil {
			break
		}
	}
	if !errors.Is(err, killed) {
		t.Fatalf("got %v, want %v", err, killed)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if _, all := importedInto(t, state); len(all) != 0 {
		t.Fatalf("%d in-links count", len(all))
	}
	for _, n := range []int{3 * inlinkCommit / 2, 5} {
		if _, err := (GraphImport{State: state, Files: writeGraph(t, n)}).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		g, all := importedInto(t, state)
		if len(all) != n || g.Sources != uint64(n) || all[0].Host != "h000000.net" {
			t.Errorf("%d in-links, want %d; %+v", len(all), n, g)
		}
	}
	if err := kv.Check(state, func(problem string) { t.Error(problem) }); err != nil {
		t.Error(err)
	}
}

// importedInto returns the graph and in-links of a state file.
func importedInto(t *testing.T, state string) (g schema.Graph, all []schema.Inlink) {
	t.Helper()
	store, err := kv.Open(state, kv.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	s, err := survey.New(store)
	if err == nil {
		g, _, err = s.Graph()
	}
	if err == nil {
		err = s.EachInlink(func(l *schema.Inlink) error { all = append(all, *l); return nil })
	}
	if err != nil {
		t.Fatal(err)
	}
	return g, all
}

// A file that a crawl holds, and a shard, are refused.
func TestGraphImportRefuses(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal)
	_, err := GraphImport{State: w.Store.Path(), Files: writeGraph(t, 1)}.Run(t.Context())
	if !errors.Is(err, kv.ErrLocked) {
		t.Errorf("while it is open: %v", err)
	}
	state := filepath.Join(t.TempDir(), "shard.bolt")
	shardOf, err := kv.Open(state, kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	err = shardOf.Update(func(tx *kv.Tx) error {
		return tx.Part.Put(schema.Part{Terrain: [16]byte{7}, Rule: shard.Version, Shards: 3, Run: 1, Configuration: 1})
	})
	if err := errors.Join(err, shardOf.Close()); err != nil {
		t.Fatal(err)
	}
	_, err = GraphImport{State: state, Files: writeGraph(t, 1)}.Run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "holds a part of a terrain") {
		t.Errorf("a shard: %v", err)
	}
}
