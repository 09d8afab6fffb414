package lease

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"
)

// A released shard is available at once, with its last commit.
func TestRelease(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		a, b := w.node("a"), w.node("b")
		file := &paperFile{}
		l, _ := took(t, a.claim(file, ""))
		stop := keep(t, l)
		time.Sleep(5 * time.Second)
		stop()
		early := file.twin()
		file.write()
		if err := l.Release(t.Context()); err != nil || l.Held() {
			t.Errorf("release: %v, held: %t", err, l.Held())
		}
		<-l.Lost()
		if _, err := Take(t.Context(), b.claim(early, "")); !errors.Is(err, ErrFile) || len(early.openings) != 1 {
			t.Errorf("a copy that lacks the last commit: %v, with %d openings", err, len(early.openings))
		}
		second, after := took(t, b.claim(file.twin(), ""))
		if after > time.Second {
			t.Errorf("it is taken after %s", after)
		}
		if err := l.Release(t.Context()); err != nil || !second.Held() {
			t.Errorf("released again: %v", err)
		}
		stop = keep(t, second)
		time.Sleep(time.Minute)
		if stop(); !second.Held() {
			t.Error("it was released by another one")
		}
	})
}

// A bucket that answers late or not at all has performed the release.
func TestReleaseLate(t *testing.T) {
	for name, late := range map[string]func(*node){
		"what it is asked is lost": func(n *node) { n.leave(7 * time.Second) },
		"its answers are lost": func(n *node) {
			until := time.Now().Add(7 * time.Second)
			n.back = func(bool) bool { return time.Now().Before(until) }
		},
		"it does not say that it has written": func(n *node) {
			var writes atomic.Int64
			n.back = func(wrote bool) bool { return wrote && writes.Add(1) == 1 }
		},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, w *world) {
				a, b := w.node("a"), w.node("b")
				file := &paperFile{}
				l, _ := took(t, a.claim(file, ""))
				late(a)
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
				defer cancel()
				if err := l.Release(ctx); err != nil {
					t.Error(err)
				}
				if _, after := took(t, b.claim(file.twin(), "")); after > time.Second {
					t.Errorf("it is taken after %s", after)
				}
			})
		})
	}
	in(t, func(t *testing.T, w *world) {
		a := w.node("a")
		l, _ := took(t, a.claim(&paperFile{}, ""))
		a.leave(time.Hour)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		if err := l.Release(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("of a bucket that is away: %v", err)
		}
	})
}
