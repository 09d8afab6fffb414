package hub

import (
	"context"
	"crypto/tls"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl/cluster/lease"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/schema"
)

// A record is changed only at its current revision.
func TestBucket(t *testing.T) {
	url := start(t, Options{}).URL()
	b, other := bucket(t, url), bucket(t, url)
	ctx := t.Context()
	if _, err := b.Get(ctx, "k"); !errors.Is(err, lease.ErrNone) {
		t.Errorf("before there is one: %v", err)
	}
	if _, err := b.Update(ctx, "k", []byte("0"), 5); !errors.Is(err, lease.ErrChanged) {
		t.Errorf("an update of none: %v", err)
	}
	first, err := b.Create(ctx, "k", []byte("1"))
	if err != nil || first < 1000 {
		t.Fatalf("revision %d, %v; want one at random", first, err)
	}
	if _, err := other.Create(ctx, "k", []byte("2")); !errors.Is(err, lease.ErrChanged) {
		t.Errorf("a second one is made: %v", err)
	}
	second, err := other.Update(ctx, "k", []byte("3"), first)
	if err != nil || second <= first {
		t.Fatalf("revision %d after %d, %v", second, first, err)
	}
	if _, err := b.Update(ctx, "k", []byte("4"), first); !errors.Is(err, lease.ErrChanged) {
		t.Errorf("an update at an old revision: %v", err)
	}
	for _, size := range []int{maxRecord, 2 << 20} {
		if _, err := b.Update(ctx, "k", make([]byte, size), second); !errors.Is(err, lease.ErrTooLarge) {
			t.Errorf("an update of %d bytes: %v", size, err)
		}
		if _, err := b.Create(ctx, "l", make([]byte, size)); !errors.Is(err, lease.ErrTooLarge) {
			t.Errorf("a record of %d bytes is made: %v", size, err)
		}
	}
	if e, err := b.Get(ctx, "k"); err != nil || string(e.Value) != "3" || e.Revision != second {
		t.Errorf("it holds %q, %d, %v; want 3, %d", e.Value, e.Revision, err, second)
	}
	one, err := b.Session(ctx)
	again, err2 := b.Session(ctx)
	if err != nil || err2 != nil || one != again {
		t.Errorf("sessions %s, %v and %s, %v", one, err, again, err2)
	}
}

// A restarted hub keeps its records; a wiped one has new revisions; each is a new session.
func TestBucketOverRestarts(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := bucket(t, s.server.URL())
	session := func(ctx context.Context) (err error) { _, err = b.Session(ctx); return err }
	seen := map[string]bool{}
	note := func() {
		t.Helper()
		eventually(t, session)
		name, err := b.Session(t.Context())
		if err != nil || seen[name] {
			t.Errorf("session %s, %v, after %v", name, err, seen)
		}
		seen[name] = true
	}
	note()
	revision, err := b.Create(t.Context(), "k", []byte("1"))
	if err != nil {
		t.Fatal(err)
	}
	s.restart()
	note()
	if e, err := b.Get(t.Context(), "k"); err != nil || string(e.Value) != "1" || e.Revision != revision {
		t.Errorf("after a restart it holds %q, %d, %v", e.Value, e.Revision, err)
	}
	s.wipe()
	eventually(t, func(ctx context.Context) error { // the bucket does not exist yet
		if _, err := b.Get(ctx, "k"); !errors.Is(err, lease.ErrNone) {
			return err
		}
		return nil
	})
	note()
	if _, err := b.Update(t.Context(), "k", []byte("2"), revision); !errors.Is(err, lease.ErrChanged) {
		t.Errorf("an update at a revision of the hub before: %v", err)
	}
	if second, err := b.Create(t.Context(), "k", []byte("3")); err != nil || second == revision {
		t.Errorf("revision %d again, %v", second, err)
	}
}

// A re-established connection is a new session.
func TestBucketOverCut(t *testing.T) {
	t.Parallel()
	w := crawltest.NewWire(t, start(t, Options{}).nats.Addr().String())
	b := bucket(t, "nats://"+w.Addr())
	before, err := b.Session(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w.Cut(false)
	eventually(t, func(ctx context.Context) error {
		after, err := b.Session(ctx)
		if err == nil && after == before {
			err = errors.New("it is the same session")
		}
		return err
	})
}

// A file is a state file that contains everything.
type file struct{ opening schema.Opening }

func (f file) Contains(schema.Opening, uint64) (bool, error) { return true, nil }
func (f file) Begin() (schema.Opening, error)                { return f.opening, nil }
func (f file) Commit() uint64                                { return 1 }

func claim(b *Bucket, node string, timing lease.Timing) lease.Claim {
	return lease.Claim{
		Bucket: b, Key: Key(3), ID: node, Node: node, Instance: node, File: file{schema.Opening{1}}, Timing: timing,
		Clock: lease.MachineClock(),
	}
}

// kept takes a shard and renews the lease until the test is over.
func kept(t *testing.T, c lease.Claim) (l *lease.Lease) {
	t.Helper()
	eventually(t, func(context.Context) (err error) { l, err = lease.Take(t.Context(), c); return err })
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { _ = l.Keep(ctx); close(ended) }()
	t.Cleanup(func() { cancel(); <-ended })
	return l
}

// look returns the holder of the shard, as soon as the hub answers.
func look(t *testing.T, b *Bucket) (h lease.Holder, err error) {
	t.Helper()
	eventually(t, func(ctx context.Context) error { h, err = lease.Look(ctx, b, Key(3)); return err })
	return h, err
}

// With a real hub and real clocks, one of two nodes holds the shard, also when the hub is wiped.
func TestLeases(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	a, b := bucket(t, s.server.URL()), bucket(t, s.server.URL())
	timing := crawltest.Timing(5) // a busy machine renews late
	var l *lease.Lease
	for again := true; again; { // if it is lost, as on a busy machine, another node may hold it
		l = kept(t, claim(a, "a", timing))
		var held *lease.HeldError
		_, err := lease.Take(t.Context(), claim(b, "b", timing))
		if again = !l.Held(); !again && (!errors.As(err, &held) || held.Node != "a") {
			t.Errorf("another node is told %v", err)
		}
	}
	h, err := look(t, b)
	if err != nil || !h.Held || h.Node != "a" || h.Opening != (schema.Opening{1}) || h.Commit != 1 ||
		time.Since(h.Since).Abs() > time.Minute {
		t.Errorf("the record says %+v, %v", h, err)
	}
	s.wipe()
	var held *lease.HeldError
	eventually(t, func(ctx context.Context) error {
		if _, err := lease.Take(ctx, claim(b, "b", timing)); !errors.As(err, &held) {
			return errors.Join(errors.New("another node is not refused"), err)
		}
		return nil
	})
	if held.Node != "a" || !l.Held() {
		t.Errorf("after a wipe %q holds the shard, a: %t", held.Node, l.Held())
	}
}

// A hub that nobody has used has a fresh bucket, with any kind of access, until it loses its store. A bucket that a node
// has created is not fresh.
func TestFresh(t *testing.T) {
	certificate, anchors := selfSigned(t)
	token := written(t, "the-token-of-a-hub")
	for name, o := range map[string]Options{
		"open":  {},
		"token": {Token: "the-token-of-a-hub"},
		"TLS":   {Token: "the-token-of-a-hub", TLS: &tls.Config{Certificates: []tls.Certificate{certificate}}},
	} {
		t.Run(name, func(t *testing.T) {
			o.Store = t.TempDir()
			d := Dial{Log: quiet()}
			if o.Token != "" {
				d.Credentials = token
			}
			if o.TLS != nil {
				d.CAFile = anchors
			}
			for _, step := range []struct {
				name        string
				first, wipe bool
				fresh       bool
			}{
				{"at the first start", true, false, true},
				{"later", false, false, true},
				{"without its store", false, true, false},
				{"with a bucket of a node", true, false, false},
			} {
				if o.Fresh = step.first; step.wipe {
					if err := os.RemoveAll(o.Store); err != nil {
						t.Fatal(err)
					}
				}
				s := start(t, o)
				d.URL = s.URL()
				c, err := reach(t.Context(), d)
				if err != nil {
					t.Fatal(err)
				}
				b, err := c.Bucket(t.Context(), [16]byte{7})
				if err != nil {
					t.Fatal(err)
				}
				if fresh, err := b.Fresh(t.Context()); err != nil || fresh != step.fresh {
					t.Errorf("%s: fresh %t, %v", step.name, fresh, err)
				}
				c.Close()
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}
