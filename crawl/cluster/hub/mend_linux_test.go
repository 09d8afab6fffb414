package hub

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
)

// A hub with a full disk is away, logs that, and accepts records again once there is room. It keeps what it
// had acknowledged.
func TestDiskFull(t *testing.T) {
	store := crawltest.SmallDisk(t, "4m")
	said := written(t, "")
	log, err := os.OpenFile(said, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { log.Close() })
	s, err := Start(Options{
		Open:   true,
		Listen: "127.0.0.1:0", Store: store, Log: slog.New(slog.NewTextHandler(log, nil)), rest: 600 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	waiting, stop := context.WithCancel(t.Context())
	var g errgroup.Group
	g.Go(func() error { return s.Wait(waiting) })
	t.Cleanup(func() {
		stop()
		if err := errors.Join(g.Wait(), s.Close()); err != nil {
			t.Error(err)
		}
	})

	b := bucket(t, s.URL())
	revision, err := b.Create(t.Context(), "k", []byte("before"))
	if err != nil {
		t.Fatal(err)
	}
	filler := filepath.Join(store, "filler")
	crawltest.FillDisk(t, filler)
	for range 2 {
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		_, err := b.Update(ctx, "k", make([]byte, maxRecord/2), revision)
		cancel()
		if err == nil {
			t.Fatal("a record is taken that there is no room for")
		}
	}
	says := func(text string) {
		t.Helper()
		eventually(t, func(context.Context) error {
			all, err := os.ReadFile(said)
			if err == nil && !bytes.Contains(all, []byte(text)) {
				err = errors.New("the hub does not say: " + text)
			}
			return err
		})
	}
	says("the hub cannot be there again yet")
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	says("the hub is available again")
	eventually(t, func(ctx context.Context) error {
		e, err := b.Get(ctx, "k")
		if err != nil {
			return err
		}
		if string(e.Value) != "before" && !bytes.Equal(e.Value, []byte("after")) || e.Revision < revision {
			t.Errorf("it holds %.20q at %d, want what it had acknowledged at %d", e.Value, e.Revision, revision)
		}
		_, err = b.Update(ctx, "k", []byte("after"), e.Revision)
		return err
	})
}
