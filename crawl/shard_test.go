package crawl

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sumi-ripple/ripple/crawl/cluster/exchange"
	"github.com/sumi-ripple/ripple/crawl/cluster/termination"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
	"github.com/sumi-ripple/ripple/schema/shard"
)

// A silence is a carrier that delivers nothing.
type silence struct{}

func (silence) Ask(context.Context, int, []byte) ([]byte, error) { return nil, exchange.ErrNobody }

// A testLease is held until it is lost.
type testLease chan struct{}

func (l testLease) Lost() <-chan struct{}      { return l }
func (l testLease) Ready(context.Context) bool { return l.Held() }
func (l testLease) Held() bool {
	select {
	case <-l:
		return false
	default:
		return true
	}
}

const seedOfA = "[[quality]]\ndomain = \"a.test\"\nseeds = [\"https://a.test/\"]\n"

// idleShard is the shard of two to which a.test does not belong. The other one is silent.
func idleShard(t *testing.T) *Shard {
	rule, err := shard.New(2)
	if err != nil {
		t.Fatal(err)
	}
	part := schema.Part{
		Terrain: [16]byte{3}, Rule: shard.Version, Shard: 1 - rule.Of("a.test"), Shards: 2, Run: 4, Configuration: 2,
	}
	return &Shard{Part: part, Carrier: silence{}}
}

// beginShard begins a crawl of a shard without a page.
func beginShard(t *testing.T, store *kv.Store, s *Shard) (*Crawl, error) {
	t.Helper()
	cfg := crawltest.Parse(t, twoSteps(seedOfA))
	c, _, err := Begin(t.Context(), store, Options{Config: cfg, Log: slog.New(slog.DiscardHandler), Shard: s})
	return c, err
}

// runShard runs a crawl until f has returned and the work that f started is done.
func runShard(t *testing.T, c *Crawl, f func(ctx context.Context)) (res Result, err error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	over := make(chan struct{})
	go func() { res, err = c.Run(ctx); close(over) }()
	f(ctx)
	cancel()
	<-over
	return res, err
}

// A shard that has nothing to do keeps running until all shards have agreed; then its file says so,
// and that run cannot be begun again.
func TestShardEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "state.bolt")
		store := crawltest.Open(t, path)
		c, err := beginShard(t, store, idleShard(t))
		if err != nil {
			t.Fatal(err)
		}
		res, err := runShard(t, c, func(ctx context.Context) {
			time.Sleep(time.Hour)
			r, err := c.Reading(ctx)
			if err != nil || !r.Idle || !r.Told || r.Over || r.Run != 4 || r.Configuration != 2 {
				t.Fatalf("reading %+v, %v", r, err)
			}
			for name, change := range map[string]func(*termination.Reading){
				"another file":          func(r *termination.Reading) { r.Opening[0]++ },
				"a commit that it lost": func(r *termination.Reading) { r.Commit++ },
				"another run":           func(r *termination.Reading) { r.Run++ },
			} {
				wrong := r
				if change(&wrong); c.Finish(ctx, wrong) == nil {
					t.Errorf("it ends as agreed on for %s", name)
				}
			}
			if err := c.Finish(ctx, r); err != nil {
				t.Error(err)
			}
		})
		if err != nil || !res.Walked || res.Run.End.Kind != schema.EndFrontier {
			t.Fatalf("%+v, %v", res, err)
		}
		if r, err := termination.Of(store); err != nil || !r.Over {
			t.Errorf("the file says %+v, %v", r, err)
		}
		if err := c.Complete(); err != nil {
			t.Fatal(err)
		}
		if _, err := beginShard(t, store, idleShard(t)); !errors.Is(err, ErrOver) {
			t.Errorf("the same run begins again: %v", err)
		}
		next := idleShard(t)
		next.Part.Run++
		if _, err := beginShard(t, store, next); err != nil {
			t.Errorf("the next run: %v", err)
		}
		next.Part.Run++
		if _, err := beginShard(t, store, next); !errors.Is(err, ErrNotOver) {
			t.Errorf("the run after that: %v", err)
		}
	})
}

// A shard that cannot begin its run has not entered it: otherwise the run would count as over.
func TestShardDoesNotBegin(t *testing.T) {
	store := crawltest.Open(t, filepath.Join(t.TempDir(), "state.bolt"))
	cfg := crawltest.Parse(t, twoSteps(seedOfA)+"[render]\nmode = \"auto\"\n")
	failed := errors.New("no browser")
	_, _, err := Begin(t.Context(), store, Options{
		Config: cfg, Log: slog.New(slog.DiscardHandler), Shard: idleShard(t),
		OpenRenderer: func(context.Context, *config.Config) (ring.Renderer, error) { return nil, failed },
	})
	if !errors.Is(err, failed) {
		t.Fatal(err)
	}
	if part := store.Part(); part.Shards != 0 || store.LastCommit() != 0 {
		t.Errorf("the file is %+v at commit %d", part, store.LastCommit())
	}
	if _, err := beginShard(t, store, idleShard(t)); err != nil {
		t.Error(err)
	}
	if part, want := store.Part(), idleShard(t).Part; part != want {
		t.Errorf("the file is %+v, want %+v", part, want)
	}
}

// A shard that is stopped, or whose lease is lost, has not reached its end. Without the lease
// nothing is written or answered.
func TestShardStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := crawltest.Open(t, filepath.Join(t.TempDir(), "state.bolt"))
		c, err := beginShard(t, store, idleShard(t))
		if err != nil {
			t.Fatal(err)
		}
		res, err := runShard(t, c, func(context.Context) { synctest.Wait() })
		if err != nil || res.Walked || res.Run.Status != schema.RunInterrupted {
			t.Fatalf("stopped: %+v, %v", res, err)
		}
		leased, lease := idleShard(t), make(testLease)
		leased.Lease = lease
		if c, err = beginShard(t, store, leased); err != nil {
			t.Fatal(err)
		}
		commit := uint64(0)
		res, err = runShard(t, c, func(ctx context.Context) {
			if _, err := c.Reading(ctx); err != nil {
				t.Error(err)
			}
			err := c.Query(func(s *kv.Store) error { commit = s.LastCommit(); close(lease); return nil })
			if err != nil {
				t.Error(err)
			}
			<-c.done
			for what, err := range map[string]error{
				"reading": second(c.Reading(ctx)), "answer": second(c.Answer(ctx, nil)),
				"finish": c.Finish(ctx, termination.Reading{}),
				"update": c.Update(func(*kv.Tx) error { return nil }), "complete": c.Complete(),
			} {
				if !errors.Is(err, ErrLease) && !errors.Is(err, ErrEnded) {
					t.Errorf("%s: %v", what, err)
				}
			}
		})
		if !errors.Is(err, ErrLease) || store.LastCommit() != commit {
			t.Errorf("%+v, %v; commit %d, was %d", res, err, store.LastCommit(), commit)
		}
		if _, err := beginShard(t, store, leased); !errors.Is(err, ErrLease) || store.LastCommit() != commit {
			t.Errorf("begun without a lease: %v", err)
		}
	})
}

func second[T any](_ T, err error) error { return err }

// A file can only be crawled as what it holds.
func TestShardOfAnotherPart(t *testing.T) {
	for name, v := range map[string]struct {
		was, is func(*Shard) *Shard
		want    error
	}{
		"the same":           {itself, itself, nil},
		"a shard as a whole": {itself, wholeOne, ErrPart},
		"a whole as a shard": {wholeOne, itself, ErrPart},
		"another terrain":    {itself, func(s *Shard) *Shard { s.Part.Terrain[1]++; return s }, ErrPart},
		"another shard":      {itself, func(s *Shard) *Shard { s.Part.Shards++; return s }, ErrPart},
	} {
		t.Run(name, func(t *testing.T) {
			store := crawltest.Open(t, filepath.Join(t.TempDir(), "state.bolt"))
			cfg := crawltest.Parse(t, twoSteps(seedOfA))
			opts := Options{Config: cfg, Log: slog.New(slog.DiscardHandler), Shard: v.was(idleShard(t))}
			if _, _, err := Begin(t.Context(), store, opts); err != nil {
				t.Fatal(err)
			}
			commit := store.LastCommit()
			opts.Shard = v.is(idleShard(t))
			_, _, err := Begin(t.Context(), store, opts)
			if !errors.Is(err, v.want) || err != nil && store.LastCommit() != commit {
				t.Errorf("%v, want %v", err, v.want)
			}
			if opts.Shard == nil {
				if _, err := Reclassify(store, cfg); !errors.Is(err, v.want) {
					t.Errorf("reclassified: %v, want %v", err, v.want)
				}
				if _, err := Replay(store, cfg); !errors.Is(err, v.want) {
					t.Errorf("replayed: %v, want %v", err, v.want)
				}
			}
		})
	}
}

func itself(s *Shard) *Shard { return s }
func wholeOne(*Shard) *Shard { return nil }
