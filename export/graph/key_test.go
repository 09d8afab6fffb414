package graph_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/export/atomicfile"
	"github.com/sumi-ripple/ripple/export/graph"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/shard"
)

// A keyedNode and a keyedEdge are rows of one shard.
type (
	keyedNode struct {
		ID    [16]byte `parquet:"id"`
		Label string   `parquet:"label"`
		Owner *int64   `parquet:"owner,optional"`
		State string   `parquet:"state"`
	}
	keyedEdge struct {
		Source [16]byte `parquet:"source"`
		Target [16]byte `parquet:"target"`
		Weight int64    `parquet:"weight"`
	}
)

// linked returns pages and their links.
func linked() map[string][]string {
	return map[string][]string{
		"a.test/": {"b.test/", "q.test/x", "c.test/"}, "a.test/1": {"a.test/", "b.test/"}, "b.test/": {"a.test/1", "d.test/"},
		"c.test/": {"b.test/2", "a.test/"}, "d.test/": {"c.test/", "d.test/3"}, "q.test/x": {"a.test/"},
	}
}

// shardOf writes the file of a shard, which only knows links to pages of other shards.
func shardOf(t *testing.T, n, shards int) *surveytest.World {
	t.Helper()
	rule, err := shard.New(shards)
	if err != nil {
		t.Fatal(err)
	}
	w := surveytest.New(t, surveytest.Lists)
	w.Update(func(tx *kv.Tx) error {
		return tx.Part.Put(schema.Part{
			Terrain: [16]byte{1}, Rule: shard.Version, Shard: n, Shards: shards, Run: 1, Configuration: 1,
		})
	})
	for _, from := range slices.Sorted(maps.Keys(linked())) {
		if rule.Of(from[:6]) != n {
			continue
		}
		w.Depth(from, 0, 0)
		for _, to := range linked()[from] {
			w.Depth(to, 1, 0)
		}
		w.Visit(from, w.Links(linked()[from]...))
	}
	return w
}

// Files that all shards wrote into one folder can be read as one table. Every link occurs once, its
// ends are nodes, and each page is described by its own shard.
func TestParquetOfShards(t *testing.T) {
	const shards = 3
	rule, err := shard.New(shards)
	if err != nil {
		t.Fatal(err)
	}
	for _, level := range []export.Level{export.LevelPage, export.LevelHost, export.LevelEntity} {
		dir := filepath.Join(t.TempDir(), "terrain")
		label, links, own := map[[16]byte]string{}, map[string]int64{}, 0
		for n := range shards {
			g, err := export.New(shardOf(t, n, shards).Survey(), export.Options{Level: level})
			if err != nil {
				t.Fatal(err)
			}
			for range 2 { // the second one replaces the first
				if err := format(t, "parquet").Write(t.Context(), dir, g, graph.Options{}); err != nil {
					t.Fatal(err)
				}
			}
			folder := filepath.Join(dir, fmt.Sprintf("shard=%d", n))
			for _, node := range readParquet[keyedNode](t, filepath.Join(folder, "nodes.parquet"), "shard") {
				if sum := sha256.Sum256([]byte(node.Label)); node.ID != [16]byte(sum[:16]) {
					t.Errorf("%s has the key %x", node.Label, node.ID)
				}
				label[node.ID] = node.Label
				if toldByOwner(t, rule, n, level, &node) {
					own++
				}
			}
			for _, e := range readParquet[keyedEdge](t, filepath.Join(folder, "edges.parquet"), "shard") {
				if label[e.Source] == "" || label[e.Target] == "" {
					t.Errorf("%s: a link from %x to %x", level, e.Source, e.Target)
				}
				links[label[e.Source]+" "+label[e.Target]] += e.Weight
			}
		}
		want := map[string]int64{}
		for from, all := range linked() {
			for _, to := range all {
				switch {
				case level == export.LevelPage:
					want["https://"+from+" https://"+to] = 1
				case from[:6] != to[:6]:
					want[from[:6]+" "+to[:6]]++
				}
			}
		}
		if diff := cmp.Diff(want, links); diff != "" {
			t.Errorf("%s (-linked +read):\n%s", level, diff)
		}
		if nodes := map[export.Level]int{export.LevelPage: 6, export.LevelHost: 5}[level]; own < nodes {
			t.Errorf("%s: %d nodes are told by who owns them; at least %d should be", level, own, nodes)
		}
	}
}

// toldByOwner checks the owner of a node in a shard's file, and reports whether it is that shard.
func toldByOwner(t *testing.T, rule *shard.Rule, n int, level export.Level, node *keyedNode) bool {
	t.Helper()
	if level == export.LevelEntity {
		if node.Owner != nil {
			t.Errorf("entity %s belongs to shard %d", node.Label, *node.Owner)
		}
		return false
	}
	host := node.Label
	if level == export.LevelPage {
		host = host[len("https://") : len("https://")+6]
	}
	if *node.Owner != int64(rule.Of(host)) {
		t.Errorf("%s belongs to shard %d", node.Label, *node.Owner)
	}
	own := *node.Owner == int64(n)
	if level == export.LevelPage && own == (node.State == "foreign") {
		t.Errorf("shard %d: %s of shard %d is %s", n, node.Label, *node.Owner, node.State)
	}
	return own
}

// Output of a whole terrain does not replace output of shards, and output of shards does not replace
// foreign files.
func TestParquetBesideShards(t *testing.T) {
	dir, parquet := filepath.Join(t.TempDir(), "terrain"), format(t, "parquet")
	write := func(w *surveytest.World) error {
		g, err := export.New(w.Survey(), export.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := parquet.Check(dir, false); err != nil {
			return err
		}
		return parquet.Write(t.Context(), dir, g, graph.Options{})
	}
	if err := write(shardOf(t, 0, 2)); err != nil {
		t.Fatal(err)
	}
	if err := write(terrain(t)); !errors.Is(err, atomicfile.ErrForeign) {
		t.Errorf("of a whole terrain: %v", err)
	}
	mine := filepath.Join(dir, "shard=1")
	if err := os.Mkdir(mine, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(mine, "notes.txt"), []byte("mine"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := write(shardOf(t, 1, 2)); !errors.Is(err, atomicfile.ErrForeign) {
		t.Errorf("over somebody's own: %v", err)
	}
	if text, err := os.ReadFile(filepath.Join(mine, "notes.txt")); string(text) != "mine" {
		t.Errorf("%q, %v", text, err)
	}
	dir += "2"
	if err := write(terrain(t)); err != nil {
		t.Fatal(err)
	}
	if err := write(shardOf(t, 0, 2)); err == nil || !strings.Contains(err.Error(), "something else than shards") {
		t.Errorf("a shard beside the whole: %v", err)
	}
}
