package merge_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/merge"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

// seedOnly is the least that a configuration says.
const seedOnly = `[user-agent]
crawler-name = "T"
crawler-version = "1"
contact-url = "https://t.test/"
contact-email = "t@t.test"
[[quality]]
domain = "a.test"
seeds = ["https://a.test/"]
`

// Data of a page is merged from two shards, data of a host is taken from its own shard.
func TestStores(t *testing.T) {
	names := hosts(t)
	own, other := "https://"+names[0]+"/", "https://"+names[1]+"/"
	a, b := twoShards(t, names)
	path := filepath.Join(t.TempDir(), "merged.bolt")
	dst, err := kv.Open(path, kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer dst.Close()
	var steps []string
	err = merge.Stores(t.Context(), named(b, a), schema.Shards{}, dst, func(step string, done, total int) {
		steps = append(steps, fmt.Sprintf("%s %d/%d", step, done, total))
	})
	if err != nil {
		t.Fatal(err)
	}
	wantSteps := []string{"URLs 0/4", "hosts 0/3", "visits 0/2", "visits 1/2",
		"depths 0/4", "counts 0/7", "counts 2/7", "queues 0/3"}
	if diff := cmp.Diff(wantSteps, steps); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	want := []string{
		own + " from 0 at 1, 1 forms, depth 255", other + "x from 0 at 2, 1 forms, depth 255",
		other + " from 2 at 3, 2 forms, depth 1",
		"visit of 1, to 3: to " + other, "visit of 2, to 3: to " + other,
		"https true, overflow 7, delay 1s, known 2, waiting 1", "3 waits with 7",
		fmt.Sprintf("run 1: %s, 3 pages, 6 requests, 3 errors, since 11, visit 1", schema.RunInterrupted), "v",
	}
	got := slices.Concat(urlsIn(t, dst), visitsIn(t, dst), hostIn(t, dst, names[1]), runsIn(t, dst))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	dst.Close()
	if err := kv.Check(path, func(problem string) { t.Error(problem) }); err != nil {
		t.Error(err)
	}
}

// twoShards returns two shards that know each other's first page.
func twoShards(t *testing.T, names [2]string) (a, b *file) {
	a, b = newFile(t, part(0)), newFile(t, part(1))
	own, other := "https://"+names[0]+"/", "https://"+names[1]+"/"
	a.run(1, schema.RunCompleted, 1)
	a.see(1, names[0], "/", "", 1, own)
	a.see(1, names[1], "/", own, 5, other)
	b.run(1, schema.RunInterrupted, 2)
	b.see(1, names[1], "/x", "", 2, other+"x")
	b.see(1, names[1], "/", other+"x", 3, other, "https://www."+names[1]+"/")
	a.host(names[1], func(h *schema.Host) { h.HTTPS, h.Run, h.Overflow, h.CrawlDelay = true, 1, 3, time.Hour })
	b.host(names[1], func(h *schema.Host) { h.Run, h.Overflow, h.CrawlDelay, h.Known = 1, 4, time.Second, 2 })
	a.visit(1, own, other)
	b.visit(1, other+"x", other)
	b.update(func(tx *kv.Tx) error {
		h, err := tx.Hosts.At(1)
		if err != nil {
			return err
		}
		tx.Depths.Lower(b.ids[other], 1, 0)
		return tx.Frontier.Push(h, 7, b.ids[other])
	})
	a.update(func(tx *kv.Tx) error { tx.Depths.Lower(a.ids[other], 2, 0); return tx.Meta.Put("n", []byte("v")) })
	return a, b
}

// Of a shard that is left out, the file has only what others know about it and what it has told them. No run
// is completed without it, and its queues are not part of the map.
func TestStoresWithout(t *testing.T) {
	names := hosts(t)
	own, other := "https://"+names[0]+"/", "https://"+names[1]+"/"
	a, _ := twoShards(t, names)
	a.run(2, schema.RunCompleted, 1)
	a.update(func(tx *kv.Tx) error {
		tx.Outbox.Mark(a.ids[other])
		return errors.Join(tx.Peers.Put(1, schema.Peer{Cursor: 1}),
			tx.Inbound.Put(a.ids[own], schema.Inbound{Run: 1, Configuration: 1, Depth: 1}))
	})
	dst := newMerged(t)
	if err := merge.Stores(t.Context(), named(a), schema.ShardsOf(1), dst, nil); err != nil {
		t.Fatal(err)
	}
	want := []string{
		own + " from 0 at 1, 1 forms, depth 255", other + " from 1 at 5, 1 forms, depth 2", "visit of 1, to 2: to " + other,
		"https true, overflow 3, delay 0s, known 1, waiting 0",
		fmt.Sprintf("run 1: %s, 1 pages, 2 requests, 1 errors, since 11, visit 1", schema.RunInterrupted),
		fmt.Sprintf("run 2: %s, 1 pages, 2 requests, 1 errors, since 11, visit 2", schema.RunInterrupted), "v",
	}
	got := slices.Concat(urlsIn(t, dst), visitsIn(t, dst), hostIn(t, dst, names[1]), runsIn(t, dst))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	view(t, dst, func(tx *kv.Tx) error {
		run, err := tx.Runs.At(2)
		if run.Walked || run.End != (schema.End{Without: schema.ShardsOf(1)}) {
			t.Errorf("run 2 ended: %+v", run)
		}
		told, ok, err2 := tx.Inbound.At(1)
		if !ok || told.Depth != 1 || told.Run != 1 || dst.Foreign(dst.HostOf(1)) || !dst.Foreign(dst.HostOf(2)) {
			t.Errorf("of page 1 others told %+v", told)
		}
		if tx.Meta.Reapply() {
			t.Error("it waits for what the shard is to be told")
		}
		return errors.Join(err, err2)
	})
}

// visit records a visit to a page, with a link to another.
func (f *file) visit(run schema.RunID, norm, to string) {
	f.t.Helper()
	f.update(func(tx *kv.Tx) error {
		_, err := tx.Visits.Add(&schema.Visit{
			URL: f.ids[norm], Run: run, State: schema.Processed, Status: 200, Requests: 1, Length: -1,
			Links: []schema.Link{{To: f.ids[to], Kinds: schema.Kinds(0).Add(schema.LinkAnchor), Anchor: "to " + to}},
		})
		return err
	})
}

// named returns the files as shards with names.
func named(files ...*file) (shards []merge.Shard) {
	for n, f := range files {
		shards = append(shards, merge.Shard{Name: string(rune('a' + n)), Store: f.store})
	}
	return shards
}

func newMerged(t *testing.T) *kv.Store {
	t.Helper()
	dst, err := kv.Open(filepath.Join(t.TempDir(), "merged.bolt"), kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dst.Close() })
	return dst
}

// Shards cannot be merged if only one of them has begun a run.
func TestStoresOfTwoRuns(t *testing.T) {
	a, b, dst := newFile(t, part(0)), newFile(t, part(1)), newMerged(t)
	b.run(1, schema.RunCompleted, 0)
	want := "b has come to run #0 and a to run #1" // by shard
	err := merge.Stores(t.Context(), named(b, a), schema.Shards{}, dst, nil)
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v; want: %s", err, want)
	}
	if dst.LastCommit() != 0 {
		t.Error("something is written")
	}
}

// Shards that follow different configurations cannot be merged: an origin of one may not be an origin of the
// other. They can if the configurations differ only in their number.
func TestStoresOfTwoConfigurations(t *testing.T) {
	names := hosts(t)
	origin := func(name string) string {
		return fmt.Sprintf("[[quality]]\ndomain = %q\nseeds = [\"https://%s/\"]\n", name, name)
	}
	const agent = "[user-agent]\ncrawler-name = \"Test\"\n"
	both, one := agent+origin(names[0])+origin(names[1]), agent+origin(names[0])
	for _, tt := range []struct {
		number uint64 // configuration of the first shard; the second follows 1
		text   string
		want   string
	}{
		{2, one, "a follows configuration 2 and b configuration 1"}, {2, both, ""}, {1, both, ""},
	} {
		first := part(0)
		first.Configuration = tt.number
		a, b, dst := newFile(t, first), newFile(t, part(1)), newMerged(t)
		a.follows(1, tt.text)
		b.follows(1, both)
		b.see(1, names[1], "/", "", 1)
		b.update(func(tx *kv.Tx) error {
			h, err := tx.Hosts.At(1)
			if err != nil {
				return err
			}
			tx.Depths.Lower(1, 0, 0)
			return tx.Frontier.Push(h, 0, 1)
		})
		err := merge.Stores(t.Context(), named(a, b), schema.Shards{}, dst, nil)
		if tt.want != "" {
			if err == nil || !strings.Contains(err.Error(), tt.want) || dst.LastCommit() != 0 {
				t.Errorf("%v after %d commits; want %q", err, dst.LastCommit(), tt.want)
			}
			continue
		}
		together, err2 := survey.New(dst)
		if err := errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		if err := survey.Check(together, func(problem string) { t.Error(problem) }); err != nil {
			t.Error(err)
		}
	}
}

// follows makes a run in progress follow a configuration.
func (f *file) follows(id schema.RunID, text string) {
	f.t.Helper()
	cfg, _, err := config.Parse([]byte(text), "", nil)
	if err != nil {
		f.t.Fatal(err)
	}
	f.update(func(tx *kv.Tx) error {
		err := tx.Runs.PutConfig(cfg.Hash(), cfg.Effective())
		run := schema.Run{ID: id, Config: cfg.Hash(), FirstVisit: 1, Status: schema.RunInterrupted}
		return errors.Join(err, tx.Runs.Put(run))
	})
}

// Data that others may lack is queued again: not sent yet, or sent after their file was copied.
func TestStoresUntold(t *testing.T) {
	names := hosts(t)
	for name, v := range map[string]struct {
		status schema.RunStatus
		mark   bool
		live   bool
		copied bool   // the other file is a copy of one that is being crawled
		ahead  uint64 // how far the commit answered last is ahead of the last one of the other file
		want   bool
	}{
		"all is told":         {status: schema.RunInterrupted},
		"something is marked": {status: schema.RunInterrupted, mark: true, want: true},
		"live":                {status: schema.RunRunning, live: true, want: true},
		"live, at its end":    {status: schema.RunCompleted, live: true},
		"told since the copy": {status: schema.RunInterrupted, copied: true, ahead: 1, want: true},
		"told long since":     {status: schema.RunCompleted, copied: true, ahead: 9, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			a, b, dst := newFile(t, part(0)), newFile(t, part(1)), newMerged(t)
			var answered schema.Peer
			a.update(func(tx *kv.Tx) (err error) {
				answered.Opening, err = tx.Openings.Begin()
				return err
			})
			a.run(1, schema.RunCompleted, 0)
			answered.Commit = a.store.LastCommit() + v.ahead
			b.update(func(tx *kv.Tx) error { return tx.Peers.Put(0, answered) })
			b.run(1, v.status, 0)
			if v.mark {
				b.see(1, names[0], "/", "", 1)
				b.update(func(tx *kv.Tx) error { tx.Outbox.Mark(1); return nil })
			}
			shards := named(a, b)
			shards[0].Live, shards[1].Live = v.copied, v.live
			if err := merge.Stores(t.Context(), shards, schema.Shards{}, dst, nil); err != nil {
				t.Fatal(err)
			}
			if err := dst.View(func(tx *kv.Tx) error {
				if reapply := tx.Meta.Reapply(); reapply != v.want {
					t.Error(reapply)
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// Stores can be stopped at any step.
func TestStoresStopped(t *testing.T) {
	for _, at := range []string{"URLs", "hosts", "visits", "depths", "queues"} {
		t.Run(at, func(t *testing.T) {
			a, b := newFile(t, part(0)), newFile(t, part(1))
			a.run(1, schema.RunCompleted, 0)
			b.run(1, schema.RunCompleted, 0)
			stopped, last := errors.New("stopped"), ""
			ctx, cancel := context.WithCancelCause(t.Context())
			see := func(step string, _, _ int) {
				if last = step; step == at {
					cancel(stopped)
				}
			}
			err := merge.Stores(ctx, named(a, b), schema.Shards{}, newMerged(t), see)
			if !errors.Is(err, stopped) || last != at {
				t.Errorf("%v after %s", err, last)
			}
		})
	}
}
