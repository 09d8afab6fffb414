package node_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/crawl/cluster/hub"
	"github.com/sumi-ripple/ripple/crawl/cluster/lease"
	"github.com/sumi-ripple/ripple/crawl/cluster/node"
	"github.com/sumi-ripple/ripple/schema"
)

// A mute file contains everything that is asked about.
type mute struct{}

func (mute) Commit() uint64                                { return 1 }
func (mute) Contains(schema.Opening, uint64) (bool, error) { return true, nil }
func (mute) Begin() (o schema.Opening, err error)          { o[0] = 1; return o, nil }

// A holder holds shards of a terrain, as far as the hub knows, and answers only with a function of the test.
type holder struct {
	tr     *terrain
	conn   *hub.Conn
	bucket *hub.Bucket
}

// newHolder returns a holder in a terrain that was crawled and has no nodes left.
func newHolder(t *testing.T) *holder {
	t.Helper()
	h := &holder{tr: slow(t, 27, 1, 2)}
	end, _ := h.tr.start(0)
	h.tr.works(5)
	if err := end(); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	h.conn = h.tr.connect()
	h.bucket, _ = h.tr.bucket(h.conn)
	return h
}

// take takes the lease of a shard without renewing it.
func (h *holder) take(shard int) *lease.Lease {
	h.tr.t.Helper()
	var held *lease.Lease
	err := patient(func() (err error) {
		held, err = lease.Take(h.tr.t.Context(), lease.Claim{
			Bucket: h.bucket, Key: hub.Key(shard), Node: "mute", File: mute{},
			Timing: h.tr.timing(), Clock: lease.MachineClock(),
		})
		return err
	})
	if err != nil {
		h.tr.t.Fatal(err)
	}
	return held
}

// keep takes the lease of shard 1 and renews it until letGo is called. letGo reports whether the lease was lost
// before, as may happen on a busy machine.
func (h *holder) keep() (held *lease.Lease, letGo func() (lost bool)) {
	h.tr.t.Helper()
	held = h.take(1)
	ctx := h.tr.t.Context()
	keeping, stop := context.WithCancel(ctx)
	kept := make(chan error, 1)
	go func() { kept <- held.Keep(keeping) }()
	return held, sync.OnceValue(func() bool {
		stop()
		<-kept
		lost := !held.Held()
		for ctx.Err() == nil && held.Release(ctx) != nil { // a busy hub is slow to answer
		}
		return lost
	})
}

// answers answers release questions to shard 1 until end is called.
func (h *holder) answers(answer func() ([]byte, error)) (end func()) {
	serving, stop := context.WithCancel(h.tr.t.Context())
	served := make(chan error, 1)
	go func() {
		served <- h.bucket.Serve(serving, hub.Post{
			Shard: 1, Opening: schema.Opening{1}, Held: func() bool { return true }, Lanes: map[string]int{"G": 1},
			Answer: func(context.Context, string, []byte) ([]byte, error) { return answer() },
		})
	}()
	return func() { stop(); <-served }
}

func (h *holder) release() (r node.Released, err error) {
	err = patient(func() (err error) {
		r, err = node.Release(h.tr.t.Context(), h.conn, 1, h.tr.timing())
		return err
	})
	return r, err
}

// A shard is released if its holder lets go of it without an answer, but not while the holder keeps it.
func TestReleaseIsNotAnswered(t *testing.T) {
	t.Parallel()
	h := newHolder(t)
	held, letGo := h.keep()
	var still *lease.HeldError
	r, err := h.release()
	for !held.Held() { // it was lost meanwhile
		letGo()
		held, letGo = h.keep()
		r, err = h.release()
	}
	if !errors.Is(err, node.ErrSilent) || !errors.As(err, &still) {
		t.Errorf("of who keeps it: %+v, %v", r, err)
	}
	for { // a busy machine may let go before it is asked
		time.AfterFunc(h.tr.timing().Renew/2, func() { letGo() })
		r, err := h.release()
		for errors.Is(err, node.ErrSilent) { // or much later
			r, err = h.release()
		}
		lost := letGo()
		if err != nil || r.Path != "" || r.Silent && !lost {
			t.Errorf("of who lets it go: %+v, %v", r, err)
		}
		if err != nil || r.Node == "mute" && !r.Silent {
			return
		}
		_, letGo = h.keep()
	}
}

// A shard is released if its holder lets go of it, even if the answer is lost or the hub never learns of the
// release.
func TestReleaseIsNotHeard(t *testing.T) {
	t.Parallel()
	h := newHolder(t)
	held, letGo := h.keep()
	end := h.answers(func() ([]byte, error) { letGo(); return nil, errors.New("lost on its way") })
	for { // until the question arrives
		r, err := h.release()
		if errors.Is(err, node.ErrSilent) || r.Silent && !held.Held() {
			continue
		}
		if want := (node.Released{Node: "mute"}); err != nil || r != want {
			t.Errorf("of who lets it go when it is asked: %+v, %v", r, err)
		}
		break
	}
	end()
	h.take(1)
	asked := make(chan struct{}, 100)
	end = h.answers(func() ([]byte, error) { asked <- struct{}{}; return []byte(`{"path": "/there"}`), nil })
	defer end()
	for {
		r, err := h.release()
		if len(asked) == 0 { // the question has not arrived
			time.Sleep(10 * time.Millisecond)
			continue
		}
		if want := (node.Released{Node: "mute", Path: "/there"}); err != nil || r != want {
			t.Errorf("of who lets it go unheard: %+v, %v", r, err)
		}
		return
	}
}

// A node that does not answer is told to stop only once, however many shards it has: any further attempt would
// only wait.
func TestStopIsNotAnswered(t *testing.T) {
	t.Parallel()
	h := newHolder(t)
	var asked atomic.Int32
	serving, stop := context.WithCancel(t.Context())
	var g errgroup.Group
	for shard := range 2 {
		h.take(shard)
		g.Go(func() error {
			return h.bucket.Serve(serving, hub.Post{
				Shard: shard, Opening: schema.Opening{1}, Held: func() bool { return true }, Lanes: map[string]int{"S": 1, "X": 1},
				Answer: func(_ context.Context, lane string, _ []byte) ([]byte, error) {
					if lane == "X" {
						asked.Add(1)
					}
					return nil, errors.New("silent")
				},
			})
		})
	}
	var nodes, silent []string
	err := patient(func() (err error) { nodes, silent, err = node.Stop(t.Context(), h.conn); return err })
	if err != nil || nodes != nil || !slices.Equal(silent, []string{"mute"}) || asked.Load() != 1 {
		t.Errorf("it is told %d times; %v stop, and %v do not answer, %v", asked.Load(), nodes, silent, err)
	}
	stop()
	_ = g.Wait()
}
