package kv_test

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// visitAll begins runs, each with as many visits as the list says, a minute after the one before.
func visitAll(t *testing.T, s *kv.Store, first schema.Run, visits ...int) {
	t.Helper()
	update(t, s, func(tx *kv.Tx) error {
		id, err := addURL(s, tx, "a.test", "/")
		if err != nil {
			return err
		}
		for i, n := range visits {
			run := first
			run.ID, run.FirstVisit = schema.RunID(i+1), s.LastSeq()+1
			run.Started = first.Started.Add(time.Duration(i) * time.Minute)
			if err := tx.Runs.Put(run); err != nil {
				return err
			}
			for range n {
				if _, err := tx.Visits.Add(&schema.Visit{URL: id, Run: run.ID, State: schema.Processed}); err != nil {
					return err
				}
			}
		}
		return tx.Runs.PutConfig(first.Config, nil)
	})
}

// An import takes its place among runs without visits, whose first visit is that of the next run.
func TestJoinAmongIdleRuns(t *testing.T) {
	dir := t.TempDir()
	began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s := openStore(t, filepath.Join(dir, "state.db"))
	visitAll(t, s, schema.Run{Kind: schema.RunCrawl, Status: schema.RunCompleted, Started: began}, 1, 0, 0, 2)
	from := openStore(t, filepath.Join(dir, "import.db"))
	visitAll(t, from, schema.Run{Kind: schema.RunImport, Status: schema.RunCompleted,
		Newest: began.Add(90 * time.Second)}, 3)
	joined := filepath.Join(dir, "joined.db")
	run, last, err := s.Join(t.Context(), joined, from)
	if err != nil || run != 3 || last != 5 {
		t.Fatalf("the import is run %d of %d, %v; want 3 of 5", run, last, err)
	}
	view(t, openStore(t, joined), func(tx *kv.Tx) error {
		all, err := tx.Runs.All()
		var first []schema.Seq
		for _, r := range all {
			first = append(first, r.FirstVisit)
		}
		if want := []schema.Seq{1, 2, 2, 5, 5}; !slices.Equal(first, want) {
			t.Errorf("first visits %v, want %v", first, want)
		}
		return err
	})
}
