package kv_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

func graphOfTwo() *schema.Graph {
	return &schema.Graph{
		Release: "cc-main-2024-may", ReadAt: time.UnixMilli(1717171717171).UTC(), Origins: []string{"a.test", "*.b.test"},
		Found: []uint32{1, 20}, Vertices: 1 << 33, Edges: 1 << 40, Sources: 2, Known: 4, Unreadable: 5, Ranked: true,
	}
}

// inlinks returns the in-links that count.
func inlinks(t testing.TB, s *kv.Store) (all []schema.Inlink) {
	t.Helper()
	view(t, s, func(tx *kv.Tx) error {
		return tx.Inlinks.Each("", func(l *schema.Inlink) (bool, error) {
			all = append(all, *l)
			return true, nil
		})
	})
	return all
}

// In-links of one host are joined, count once the graph is named, and are replaced by those of another.
func TestInlinks(t *testing.T) {
	s := openStore(t, filepath.Join(t.TempDir(), "state.db"))
	put := func(all ...schema.Inlink) {
		update(t, s, func(tx *kv.Tx) error {
			for _, l := range all {
				if _, err := tx.Inlinks.Put(&l); err != nil {
					return err
				}
			}
			return nil
		})
	}
	put(schema.Inlink{Host: "far.net", HarmonicRank: 9, Origins: []uint32{1}},
		schema.Inlink{Host: "news.example.org", PageRank: 1 << 31, Origins: []uint32{0}},
		schema.Inlink{Host: "far.net", HarmonicRank: 7, PageRank: 3, Origins: []uint32{0, 1}})
	if got := inlinks(t, s); len(got) != 0 {
		t.Fatalf("without a graph there are %v", got)
	}
	update(t, s, func(tx *kv.Tx) error { return tx.Inlinks.PutGraph(graphOfTwo()) })
	want := []schema.Inlink{
		{Host: "far.net", HarmonicRank: 7, PageRank: 3, Origins: []uint32{0, 1}},
		{Host: "news.example.org", PageRank: 1 << 31, Origins: []uint32{0}},
	}
	if diff := cmp.Diff(want, inlinks(t, s)); diff != "" {
		t.Errorf("in-links (-want +got):\n%s", diff)
	}
	view(t, s, func(tx *kv.Tx) error {
		got, ok, err := tx.Inlinks.Graph()
		if diff := cmp.Diff(*graphOfTwo(), got); !ok || diff != "" {
			t.Errorf("graph, %v (-want +got):\n%s", ok, diff)
		}
		return err
	})
	update(t, s, func(tx *kv.Tx) error { return tx.Inlinks.Clear() })
	put(schema.Inlink{Host: "other.net", Origins: []uint32{0}})
	if got := inlinks(t, s); len(got) != 0 {
		t.Errorf("after Clear there are %v", got)
	}
}

// Prune keeps in-links, however many they are.
func TestPruneKeepsInlinks(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, filepath.Join(dir, "state.db"))
	graph := graphOfTwo()
	graph.Sources = 9000
	update(t, s, func(tx *kv.Tx) error {
		for n := range uint32(9000) {
			l := schema.Inlink{Host: fmt.Sprintf("h%d.net", n), Hosts: n, HarmonicRank: n, Origins: []uint32{n % 2}}
			if _, err := tx.Inlinks.Put(&l); err != nil {
				return err
			}
		}
		return tx.Inlinks.PutGraph(graph)
	})
	next := filepath.Join(dir, "next.db")
	if _, err := s.Prune(t.Context(), next, 1); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(inlinks(t, s), inlinks(t, openStore(t, next))); diff != "" {
		t.Errorf("in-links of the pruned file:\n%s", diff)
	}
}

// Check finds in-links of origins that the graph does not name, and a wrong number of them.
func TestCheckInlinks(t *testing.T) {
	tests := []struct {
		name   string
		origin uint32
		count  uint64
		want   string
	}{
		{"an unknown origin", 2, 1, "names no origin"},
		{"a wrong count", 1, 3, "1 in-links recorded, 3 counted"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "state.db")
			s := openUnchecked(t, path)
			update(t, s, func(tx *kv.Tx) error {
				graph := graphOfTwo()
				graph.Sources = tt.count
				if _, err := tx.Inlinks.Put(&schema.Inlink{Host: "far.net", Origins: []uint32{tt.origin}}); err != nil {
					return err
				}
				return tx.Inlinks.PutGraph(graph)
			})
			s.Close()
			wantProblem(t, path, tt.want)
		})
	}
}

// wantProblem fails the test unless Check reports one problem, with the given text.
func wantProblem(t *testing.T, path, want string) {
	t.Helper()
	var found []string
	if err := kv.Check(path, func(problem string) { found = append(found, problem) }); err != nil {
		t.Fatal(err)
	}
	if len(found) != 1 || !strings.Contains(found[0], want) {
		t.Errorf("problems %q, want one with %q", found, want)
	}
}
