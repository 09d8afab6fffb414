package hub

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
)

// changes waits until a watch returns something, and returns it as text.
func changes(t *testing.T, w *Watch) (text []string, all bool) {
	t.Helper()
	eventually(t, func(ctx context.Context) error {
		changed, whole, err := w.Changes(ctx)
		if err == nil && changed == nil && !whole {
			err = fmt.Errorf("nothing has changed")
		}
		for _, r := range changed {
			text = append(text, r.Key+" "+string(r.Value))
		}
		all = all || whole
		return err
	})
	return text, all
}

// watch returns a watch that looks only for what it has heard of.
func watch(t *testing.T, b *Bucket) *Watch {
	t.Helper()
	w, err := b.Watch(t.Context(), Keys, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// A watch returns each change of its keys once, and asks the hub nothing while there is none.
func TestWatch(t *testing.T) {
	url := start(t, Options{}).URL()
	b, other := bucket(t, url), bucket(t, url)
	first, err := other.Create(t.Context(), Key(1), []byte("a"))
	if err != nil {
		t.Fatal(err)
	}
	w := watch(t, b)
	if got, all := changes(t, w); !slices.Equal(got, []string{"shard.1 a"}) || !all {
		t.Errorf("at first %q, all: %t", got, all)
	}
	messages, _ := b.conn.Traffic()
	for range 100 {
		if changed, all, err := w.Changes(t.Context()); changed != nil || all || err != nil {
			t.Errorf("without a change: %v, %t, %v", changed, all, err)
		}
	}
	if now, _ := b.conn.Traffic(); now != messages {
		t.Errorf("%d messages without a change", now-messages)
	}
	_, err = other.Update(t.Context(), Key(1), []byte("b"), first)
	_, err2 := other.Create(t.Context(), "charter", []byte("c"))
	_, err3 := other.Create(t.Context(), Key(12), []byte("d"))
	if err != nil || err2 != nil || err3 != nil {
		t.Fatal(err, err2, err3)
	}
	var got []string
	for len(got) < 2 {
		more, all := changes(t, w)
		if got = append(got, more...); all {
			t.Error("a change is taken for everything")
		}
	}
	if want := []string{"shard.1 b", "shard.12 d"}; !slices.Equal(got, want) {
		t.Errorf("changes %q, want %q", got, want)
	}
}

// A watch of which the hub has told nothing looks for changes now and then.
func TestWatchHearsNothing(t *testing.T) {
	url := start(t, Options{}).URL()
	b := bucket(t, url)
	w := watch(t, b)
	changes(t, w)
	if _, err := bucket(t, url).Create(t.Context(), Key(1), []byte("a")); err != nil {
		t.Fatal(err)
	}
	eventually(t, func(context.Context) error {
		if w.writes.Swap(0) == 0 {
			return fmt.Errorf("nothing is heard yet")
		}
		return nil
	})
	if changed, _, err := w.Changes(t.Context()); changed != nil || err != nil {
		t.Fatalf("without having heard: %v, %v", changed, err)
	}
	w.rest = 0
	if got, all := changes(t, w); !slices.Equal(got, []string{"shard.1 a"}) || all {
		t.Errorf("%q, all: %t", got, all)
	}
}

// After every reconnection a watch returns all that there is, and nothing if the hub has lost everything.
func TestWatchBeginsAgain(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	wire := crawltest.NewWire(t, s.server.nats.Addr().String())
	b, cut := bucket(t, s.server.URL()), bucket(t, "nats://"+wire.Addr())
	if _, err := b.Create(t.Context(), Key(1), []byte("a")); err != nil {
		t.Fatal(err)
	}
	whole := func(what string, w *Watch, want ...string) {
		t.Helper()
		var got []string
		for again := true; again; { // until it is the new connection
			var all bool
			if got, all = changes(t, w); all {
				again = false
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	w, over := watch(t, b), watch(t, cut)
	whole("at first", w, "shard.1 a")
	whole("at first", over, "shard.1 a")
	wire.Cut(false)
	whole("over another connection", over, "shard.1 a")
	s.restart()
	whole("after a restart", w, "shard.1 a")
	s.wipe()
	whole("after a wipe", w)
}

// A record that somebody has deleted is not there, and a watch then returns everything.
func TestWatchOfDeleted(t *testing.T) {
	url := start(t, Options{}).URL()
	b := bucket(t, url)
	w := watch(t, b)
	for n := range 2 {
		if _, err := b.Create(t.Context(), Key(n), []byte("a")); err != nil {
			t.Fatal(err)
		}
	}
	for got := []string(nil); len(got) < 2; {
		more, _ := changes(t, w)
		got = append(got, more...)
	}
	if err := b.kv.Delete(t.Context(), b.own(Key(0))); err != nil {
		t.Fatal(err)
	}
	if got, all := changes(t, w); !slices.Equal(got, []string{"shard.1 a"}) || !all {
		t.Errorf("%q, all: %t", got, all)
	}
	if _, err := b.Create(t.Context(), Key(0), []byte("b")); err != nil {
		t.Fatal(err)
	}
	if got, all := changes(t, w); !slices.Equal(got, []string{"shard.0 b"}) || all {
		t.Errorf("%q, all: %t", got, all)
	}
}
