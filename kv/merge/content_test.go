package merge_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/merge"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
)

// Whatever a page says is read back from the file, after a visit that found it unmodified, from a pruned file, and from
// a file of several shards.
func TestContentIsCarried(t *testing.T) {
	names := hosts(t)
	a, b := twoShards(t, names)
	want := map[string]schema.Content{}
	for i, f := range []*file{a, b} {
		norm := "https://" + names[i] + "/"
		var said schema.Content
		surveytest.Fill(t, &said, 10*i)
		said.Facts = append(said.Facts, schema.Fact{Name: "more", Value: norm})
		want[norm] = said
		f.update(func(tx *kv.Tx) error {
			tx.Depths.Lower(f.ids[norm], 0, 0)
			read := schema.Visit{URL: f.ids[norm], Run: 1, State: schema.Processed, Status: 200, Requests: 1, Content: said}
			seq, err := tx.Visits.Add(&read)
			if err != nil {
				return err
			}
			again := read
			again.Status, again.Stand, again.Content = 304, seq, said.Brief()
			_, err = tx.Visits.Add(&again)
			return err
		})
	}
	merged := newMerged(t)
	if err := merge.Stores(t.Context(), named(a, b), schema.Shards{}, merged, nil); err != nil {
		t.Fatal(err)
	}
	for name, store := range map[string]*kv.Store{"a shard": a.store, "another": b.store, "merged": merged} {
		t.Run(name, func(t *testing.T) { says(t, store, want, name == "merged") })
		t.Run(name+", pruned", func(t *testing.T) { says(t, pruned(t, store), want, name == "merged") })
	}
}

func pruned(t *testing.T, s *kv.Store) *kv.Store {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pruned.bolt")
	if _, err := s.Prune(context.Background(), path, 1); err != nil {
		t.Fatal(err)
	}
	store, err := kv.Open(path, kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return store
}

// says compares what the pages of a file say, one of them or all.
func says(t *testing.T, store *kv.Store, want map[string]schema.Content, all bool) {
	t.Helper()
	s, err := survey.New(store)
	if err != nil {
		t.Fatal(err)
	}
	got := 0
	err = s.EachPage(func(p *survey.Page) error {
		if p.Visit == nil || p.Visit.Status != 304 {
			return nil
		}
		got++
		if diff := cmp.Diff(want[p.URL], p.Visit.Content); diff != "" {
			t.Errorf("%s (-want +got):\n%s", p.URL, diff)
		}
		return nil
	})
	if err != nil || all && got != len(want) || got == 0 {
		t.Errorf("%d pages, %v", got, err)
	}
}
