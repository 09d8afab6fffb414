package kv_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
)

// The history of a run is kept as it was recorded, and belongs to that run alone.
func TestRunHistory(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal)
	at := time.UnixMilli(1_700_000_000_123).UTC()
	want := schema.History{Every: 4 * time.Second, Points: []schema.Point{
		{At: at, Pages: 3, Requests: 5, Errors: 1, Waiting: 900}, {At: at.Add(4 * time.Second), Pages: 8, Requests: 11},
	}}
	w.Update(func(tx *kv.Tx) error { return tx.Runs.PutHistory(w.Run.ID, want) })
	err := w.Store.View(func(tx *kv.Tx) error {
		got, err := tx.Runs.History(w.Run.ID)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		other, otherErr := tx.Runs.History(w.Run.ID + 1)
		if len(other.Points) != 0 || otherErr != nil {
			t.Errorf("another run: %+v, %v", other, otherErr)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
