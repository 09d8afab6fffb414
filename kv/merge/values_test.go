package merge_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/merge"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/shard"
)

// A run that a file lacks, because the file was recreated later, is not completed.
func TestRecreatedStores(t *testing.T) {
	part := schema.Part{Terrain: [16]byte{1}, Rule: shard.Version, Shards: 2, Run: 1, Configuration: 1}
	for lost := range 2 {
		var files []merge.Shard
		for n := range 2 {
			part.Shard = n
			f := newFile(t, part)
			f.run(1, schema.RunCompleted, 10+n)
			if n == lost {
				f.update(func(tx *kv.Tx) error {
					return tx.Runs.Put(schema.Run{ID: 1, Config: [32]byte{1}, FirstVisit: 1, Walked: true,
						Status: schema.RunCompleted, End: schema.End{Kind: schema.EndRecreated}})
				})
			}
			files = append(files, merge.Shard{Name: f.path, Store: f.store})
		}
		dst := newFile(t, schema.Part{}).store
		if err := merge.Stores(t.Context(), files, schema.Shards{}, dst, nil); err != nil {
			t.Fatal(err)
		}
		pages := 11 - lost
		want := fmt.Sprintf("run 1: interrupted, %d pages, %d requests, %d errors, since %d, visit 1", pages, 2*pages, pages,
			10+pages)
		if got := runsIn(t, dst)[0]; got != want {
			t.Errorf("without shard %d: %s, want %s", lost, got, want)
		}
		view(t, dst, func(tx *kv.Tx) error {
			run, err := tx.Runs.At(1)
			if run.End.Kind != schema.EndRecreated {
				t.Errorf("it ended: %s", run.End)
			}
			return err
		})
	}
}

// A run is running while any shard is, even if another one was stopped or its file was recreated
// later.
func TestStoresGoOn(t *testing.T) {
	for going := range 2 {
		for _, other := range []schema.Run{
			{Status: schema.RunInterrupted}, {Status: schema.RunCompleted, End: schema.End{Kind: schema.EndRecreated}},
		} {
			a, b, dst := newFile(t, part(0)), newFile(t, part(1)), newMerged(t)
			for n, f := range []*file{a, b} {
				f.run(1, schema.RunRunning, 1)
				if n != going {
					other.ID, other.Config, other.FirstVisit = 1, [32]byte{1}, 1
					f.update(func(tx *kv.Tx) error { return tx.Runs.Put(other) })
				}
			}
			if err := merge.Stores(t.Context(), named(a, b), schema.Shards{}, dst, nil); err != nil {
				t.Fatal(err)
			}
			if got := runsIn(t, dst)[0]; !strings.HasPrefix(got, "run 1: running") {
				t.Errorf("while shard %d goes on, and the other one ended (%s): %s", going, other.End, got)
			}
		}
	}
}

// Hosts that a shard lacks because its file was recreated are left alone for the same time after a merge: the
// latest time counts, whichever shard has it.
func TestStoresRest(t *testing.T) {
	for last := range 2 {
		a, b, dst := newFile(t, part(0)), newFile(t, part(1)), newMerged(t)
		for n, f := range []*file{a, b} {
			f.run(1, schema.RunCompleted, 1)
			f.update(func(tx *kv.Tx) error { return tx.Meta.Put(kv.MetaRecreatedAt, []byte(anewAt(n == last))) })
		}
		if err := merge.Stores(t.Context(), named(a, b), schema.Shards{}, dst, nil); err != nil {
			t.Fatal(err)
		}
		view(t, dst, func(tx *kv.Tx) error {
			got, err := tx.Meta.Value(kv.MetaRecreatedAt)
			if string(got) != anewAt(true) {
				t.Errorf("shard %d is the last: it was recreated at %s", last, got)
			}
			return err
		})
	}
}

// anewAt returns when a file was recreated.
func anewAt(last bool) string {
	if last {
		return "2026-01-15T10:30:00.5Z"
	}
	return "2026-01-15T10:30:00Z"
}

// URLs that limits leave out count for the run that left them out, whichever shard did.
func TestStoresOverflow(t *testing.T) {
	names := hosts(t)
	for last := range 2 { // one host of each
		a, b, dst := newFile(t, part(0)), newFile(t, part(1)), newMerged(t)
		for n, f := range []*file{a, b} {
			f.run(1, schema.RunCompleted, 1)
			f.run(2, schema.RunCompleted, 1)
			f.see(1, names[last], "/", "", 1, "https://"+names[last]+"/")
			f.host(names[last], func(h *schema.Host) {
				if h.Run, h.Overflow, h.OverflowBefore = 2, 3, 10; n != last {
					h.Run, h.Overflow, h.OverflowBefore = 1, 5, 4
				}
			})
		}
		if err := merge.Stores(t.Context(), named(a, b), schema.Shards{}, dst, nil); err != nil {
			t.Fatal(err)
		}
		view(t, dst, func(tx *kv.Tx) error {
			h, err := tx.Hosts.At(1)
			if err == nil && (h.Run != 2 || h.Overflow != 3 || h.OverflowBefore != 15) {
				t.Errorf("run %d has left out %d, those before it %d; want run 2, 3 and 15", h.Run, h.Overflow, h.OverflowBefore)
			}
			return err
		})
	}
}

// A host seen by another shard in a run, but not by its own, was not requested in it: the counts of its own
// shard are from the run before.
func TestStoresHostOfAnEarlierRun(t *testing.T) {
	names := hosts(t)
	for own := range 2 {
		a, b, dst := newFile(t, part(0)), newFile(t, part(1)), newMerged(t)
		for n, f := range []*file{a, b} {
			f.run(1, schema.RunCompleted, 1)
			f.run(2, schema.RunCompleted, 1)
			f.see(1, names[own], "/", "", 1, "https://"+names[own]+"/")
			f.host(names[own], func(h *schema.Host) {
				h.Run, h.Overflow = 2, 3
				if n == own {
					h.Run, h.Overflow, h.Requests, h.RunRequests, h.RunGivenUp = 1, 5, 7, 7, schema.GaveUpConnection
					h.Retries = []schema.Retry{{URL: 1, Attempts: 1}}
				}
			})
		}
		if err := merge.Stores(t.Context(), named(a, b), schema.Shards{}, dst, nil); err != nil {
			t.Fatal(err)
		}
		view(t, dst, func(tx *kv.Tx) error {
			h, err := tx.Hosts.At(1)
			if err == nil && (h.Run == 2 && h.RunRequests > 0 || h.RunGivenUp != schema.NotGivenUp || len(h.Retries) > 0) {
				t.Errorf("run %d has asked %d times, given up %d, %d wait", h.Run, h.RunRequests, h.RunGivenUp, len(h.Retries))
			}
			if err == nil && (h.Requests != 7 || h.Run != 2 || h.Overflow != 3 || h.OverflowBefore != 5) {
				t.Errorf("%d requests; run %d has left out %d, those before it %d", h.Requests, h.Run, h.Overflow,
					h.OverflowBefore)
			}
			return err
		})
	}
}

// Visits that any shard has lost by pruning are missing from the map, too.
func TestStoresPruned(t *testing.T) {
	for _, want := range [][2]string{{"", "3"}, {"3", ""}, {"2", "10"}, {"10", "2"}} {
		a, b, dst := newFile(t, part(0)), newFile(t, part(1)), newMerged(t)
		for n, f := range []*file{a, b} {
			f.run(1, schema.RunCompleted, 1)
			if want[n] != "" {
				f.update(func(tx *kv.Tx) error { return tx.Meta.Put(kv.MetaPruned, []byte(want[n])) })
			}
		}
		if err := merge.Stores(t.Context(), named(a, b), schema.Shards{}, dst, nil); err != nil {
			t.Fatal(err)
		}
		view(t, dst, func(tx *kv.Tx) error {
			first, err := tx.Meta.Pruned()
			if most := map[string]schema.RunID{"3": 3, "10": 10}; first != max(most[want[0]], most[want[1]]) {
				t.Errorf("pruned before runs %q: the map is whole from run %d on", want, first)
			}
			return err
		})
	}
}
