package crawl

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// TestPendingOutlivesAKill passes depths on page by page, each in a transaction of its own, and
// kills between them: the depths are still the shortest distances.
func TestPendingOutlivesAKill(t *testing.T) {
	t.Parallel()
	seed, webs := crawltest.Seed(t), 80
	if crawltest.Full() {
		webs = 1000
	}
	kills := 0
	for i := range webs {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		web, maxDepth := randomWeb(r), 1+r.IntN(3)
		p := newPaper(t, r, web, twoOrigins(maxDepth))
		kills += p.runInParts()
		if got, want := p.distances(), web.search(maxDepth); !maps.Equal(got, want) {
			t.Fatalf("web %d of seed %d, max-depth %d: %s", i, seed, maxDepth, difference(got, want))
		}
	}
	t.Logf("seed %d: %d webs, %d kills with depths under way", seed, webs, kills)
	if kills == 0 {
		t.Error("no kill met depths under way")
	}
}

// runInParts crawls to the end. If a commit has more than one part, the crawl is killed after the
// first.
func (p *paperCrawl) runInParts() (kills int) {
	for p.start(); len(p.steps)+len(p.wakes) > 0; {
		p.rec.recorder.MostTravelled = 0
		b := &batch{wakes: p.wakes}
		for range min(len(p.steps), 1+p.r.IntN(4)) {
			b.outcomes = append(b.outcomes, p.answer(p.steps[0]))
			p.steps = p.steps[1:]
		}
		p.wakes = nil
		for more := true; more; b = new(batch) {
			var list []ring.Effect
			err := p.store.Update(func(tx *kv.Tx) (err error) {
				list, more, err = p.rec.recorder.Turn(tx, ring.News{Outcomes: b.outcomes, Wakes: b.wakes})
				return err
			})
			if err != nil {
				p.t.Fatal(err)
			}
			if more && p.r.IntN(4) > 0 {
				kills++
				p.kill()
				p.start()
				break
			}
			p.publish(list)
			p.rec.recorder.MostTravelled = 1
		}
	}
	return kills
}

// TestBeginStopped ends starts before the depths of a changed max-depth have been passed on: the
// run is interrupted, sends no request, and the next start continues with the rest.
func TestBeginStopped(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	p := newPaper(t, r, randomWeb(r), twoOrigins(1))
	p.run(0)
	p.cfg = crawltest.Parse(t, twoOrigins(3))
	cause := errors.New("told to")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	for range 2 {
		store, err := kv.Open(p.path, kv.Options{})
		if err != nil {
			t.Fatal(err)
		}
		c, begun, err := Begin(ctx, store, Options{Config: p.cfg, Log: quietLog()})
		if err != nil || !begun.Resumed {
			t.Fatalf("Begin = %+v, %v", begun, err)
		}
		if len(pending(t, store)) == 0 {
			t.Error("all depths had travelled on, so this test shows nothing")
		}
		res, err := c.Run(ctx)
		if err != nil || res.Walked || res.Run.End != (schema.End{Kind: schema.EndStopped, Detail: cause.Error()}) ||
			res.Run.Status != schema.RunInterrupted {
			t.Errorf("Run = %+v, %v", res, err)
		}
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if got, _ := p.run(0); !maps.Equal(got, p.web.search(3)) {
		t.Error(difference(got, p.web.search(3)))
	}
}

func pending(t *testing.T, store *kv.Store) (ids []schema.ID) {
	t.Helper()
	err := store.View(func(tx *kv.Tx) (err error) {
		ids, err = tx.Depths.Pending()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

// distances returns the depths and hops of all pages that have some.
func (p *paperCrawl) distances() map[string]near {
	defer p.kill()
	found := map[string]near{}
	err := p.store.View(func(tx *kv.Tx) error {
		for id := schema.ID(1); int(id) <= p.store.URLs(); id++ {
			norm, err := tx.URLs.Norm(id)
			if err != nil {
				return err
			}
			if d, h := p.store.Depth(id); d != kv.NoDepth {
				found[norm] = near{int(d), int(h), p.store.Own(id)}
			}
		}
		return nil
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return found
}
