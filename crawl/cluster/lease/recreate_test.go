package lease

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"
)

// gaveUp returns the epoch of a shard whose file a node gives up, and how long that took.
func gaveUp(t *testing.T, n *node, above uint64) (epoch uint64, after time.Duration) {
	t.Helper()
	began := time.Now()
	g, err := Recreate(t.Context(), n.claim(nil, ""), above)
	if err != nil {
		t.Fatal(err)
	}
	return g.Epoch, time.Since(began)
}

// of returns a claim with a file of the given epoch.
func (n *node) of(epoch uint64, f File) Claim {
	c := n.claim(f, n.name)
	c.Epoch = epoch
	return c
}

// A file with a silent holder is given up: it is then refused, unchanged, and a file of the next epoch can be
// taken at once and becomes the shard's file.
func TestRecreate(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		a, b, c := w.node("a"), w.node("b"), w.node("c")
		old, next := &paperFile{}, &paperFile{}
		l, _ := took(t, a.of(0, old))
		l.end() // like a killed process
		epoch, after := gaveUp(t, b, 0)
		if epoch != 1 || !within(after, 40*time.Second) {
			t.Errorf("epoch %d after %s", epoch, after)
		}
		refused := func() {
			t.Helper()
			openings := len(old.openings)
			_, err := Take(t.Context(), a.of(0, old))
			if !errors.Is(err, ErrRecreated) || !errors.Is(err, ErrFile) || len(old.openings) != openings {
				t.Errorf("the old file: %v, with %d openings", err, len(old.openings))
			}
		}
		refused()
		l, after = took(t, b.of(1, next))
		if after > 3*time.Second {
			t.Errorf("the new file was taken after %s", after)
		}
		refused()
		if err := l.Release(t.Context()); err != nil {
			t.Error(err)
		}
		refused()
		if _, err := Take(t.Context(), c.of(1, &paperFile{})); !errors.Is(err, ErrFile) || errors.Is(err, ErrRecreated) {
			t.Errorf("another file of that epoch: %v", err)
		}
		if epoch, after := gaveUp(t, c, 7); epoch != 8 || after > 3*time.Second {
			t.Errorf("what was released is given up as epoch %d after %s", epoch, after)
		}
		if epoch, _ := gaveUp(t, c, 0); epoch != 9 {
			t.Errorf("given up again: epoch %d", epoch)
		}
	})
}

// A shard held by a live node cannot be given up, nor one for which a node waits with its file.
func TestAnewOfTheLiving(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		a, b := w.node("a"), w.node("b")
		var held *HeldError
		taken := make(chan *Lease, 1)
		go func() {
			l, _ := Take(t.Context(), a.of(0, &paperFile{}))
			taken <- l
		}()
		if _, err := Recreate(t.Context(), b.claim(nil, ""), 0); !errors.As(err, &held) || held.Node != "a" {
			t.Errorf("while a node waits for it: %v", err)
		}
		l := <-taken
		stop := keep(t, l)
		if _, err := Recreate(t.Context(), b.claim(nil, ""), 0); !errors.As(err, &held) || held.Node != "a" {
			t.Errorf("while a node holds it: %v", err)
		}
		if !l.Held() {
			t.Error("it is not held any more")
		}
		_ = stop()
	})
}

// A file remains given up if the answer is lost. A file of a higher epoch than the record's need contain
// nothing, after the watch: the hub may have lost the rest.
func TestAnewWithoutAnswers(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		a, b := w.node("a"), w.node("b")
		old := &paperFile{}
		l, _ := took(t, a.of(0, old))
		l.end()
		var writes atomic.Int64
		b.back = func(wrote bool) bool { return wrote && writes.Add(1) < 3 }
		if epoch, _ := gaveUp(t, b, 0); epoch != 1 {
			t.Errorf("epoch %d", epoch)
		}
		w.wipe()
		b.back = nil
		l, _ = took(t, a.of(0, old)) // it does not know the new epoch
		l.end()
		if _, after := took(t, b.of(1, &paperFile{})); !within(after, 30*time.Second) {
			t.Errorf("it was taken after %s", after)
		}
		if _, err := Take(t.Context(), a.of(0, old)); !errors.Is(err, ErrRecreated) {
			t.Errorf("the old file: %v", err)
		}
	})
}

// A file that was given up in vain can be taken again as before, even if answers are lost. A claim made since
// then is kept.
func TestGivenBack(t *testing.T) {
	for _, lossy := range []bool{false, true} {
		in(t, func(t *testing.T, w *world) {
			a, b := w.node("a"), w.node("b")
			file := &paperFile{}
			l, _ := took(t, a.of(0, file))
			if err := l.Release(t.Context()); err != nil {
				t.Fatal(err)
			}
			b.back = func(wrote bool) bool { return lossy && wrote }
			give := func() *Given {
				t.Helper()
				g, err := Recreate(t.Context(), b.claim(nil, ""), 0)
				if err != nil || g.Epoch != 1 {
					t.Fatalf("%+v, %v", g, err)
				}
				if _, err := Take(t.Context(), a.of(0, file)); !errors.Is(err, ErrRecreated) {
					t.Errorf("the file that was given up: %v", err)
				}
				return g
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if err := give().Back(ctx); err != nil {
				t.Fatal(err)
			}
			l, after := took(t, a.of(0, file))
			if after > 3*time.Second {
				t.Errorf("it was taken after %s", after)
			}
			if err := l.Release(t.Context()); err != nil {
				t.Fatal(err)
			}
			g := give()
			next := w.node("c")
			l, _ = took(t, next.of(1, &paperFile{}))
			if err := g.Back(t.Context()); err != nil || !l.Held() {
				t.Errorf("what was taken since: %v", err)
			}
			if _, err := l.mine(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// A node that is cancelled while giving up a file has not given it up.
func TestRecreateIsCancelled(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		a, b := w.node("a"), w.node("b")
		file := &paperFile{}
		l, _ := took(t, a.of(0, file))
		if err := l.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		b.back = func(wrote bool) bool {
			if wrote && ctx.Err() == nil {
				cancel()
				return true
			}
			return false
		}
		if g, err := Recreate(ctx, b.claim(nil, ""), 0); !errors.Is(err, context.Canceled) {
			t.Fatalf("%+v, %v", g, err)
		}
		if _, after := took(t, a.of(0, file)); after > 3*time.Second {
			t.Errorf("it was taken after %s", after)
		}
	})
}
