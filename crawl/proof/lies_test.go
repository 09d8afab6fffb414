package proof

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

// TestVerifyFindsLies writes records that are well formed and contradict each other: each is found.
func TestVerifyFindsLies(t *testing.T) {
	t.Parallel()
	w := generatedWeb(t, 3, 12, 12)
	cfg, _, err := config.Load(w.config)
	if err != nil {
		t.Fatal(err)
	}
	store := crawltest.Open(t, w.state)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	visits := 0
	enough := func(crawl.Event) {
		if visits++; visits == 40 {
			cancel()
		}
	}
	c, _, err := crawl.Begin(ctx, store,
		crawl.Options{Config: cfg, Log: slog.New(slog.DiscardHandler), OnVisit: enough})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	crawltest.Verify(t, w.state)
	before, err := os.ReadFile(w.state)
	if err != nil {
		t.Fatal(err)
	}
	for want, lie := range lies() {
		t.Run(strings.ReplaceAll(want, " ", "-"), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "state.bolt")
			if err := os.WriteFile(path, before, 0o600); err != nil {
				t.Fatal(err)
			}
			store := crawltest.Open(t, path)
			if err := store.Update(func(tx *kv.Tx) error { return lie(store, tx) }); err != nil {
				t.Fatal(err)
			}
			if err := store.Close(); err != nil {
				t.Fatal(err)
			}
			found := crawltest.Problems(t, path)
			if !strings.Contains(strings.Join(found, "\n"), want) {
				t.Errorf("found %q, want %q", found, want)
			}
		})
	}
}

var errNone = errors.New("the crawl holds no such record")

// lies are changes of a store, by the expected report.
func lies() map[string]func(*kv.Store, *kv.Tx) error {
	return map[string]func(*kv.Store, *kv.Tx) error{
		"waits nowhere": func(_ *kv.Store, tx *kv.Tx) error {
			return changeHost(tx, func(h *schema.Host) bool { return h.Waiting > 0 }, tx.Frontier.Reset)
		},
		"waits without a depth": func(s *kv.Store, tx *kv.Tx) error {
			return changeHost(tx, func(h *schema.Host) bool { return h.Visits > 0 }, func(h *schema.Host) error {
				hash := s.Hash(schema.KindPage, "https://"+h.Name+"/unheard")
				id, err := tx.URLs.Add(schema.URL{Host: h.ID, PathQuery: "/unheard"}, hash)
				h.Known++
				return errors.Join(err, tx.Frontier.Push(h, 3, id))
			})
		},
		"its links say": func(s *kv.Store, tx *kv.Tx) error {
			for id := schema.ID(1); int(id) <= s.URLs(); id++ {
				if depth, _ := s.Depth(id); depth == 2 {
					tx.Depths.Lower(id, 1, 0)
					return nil
				}
			}
			return errNone
		},
		"URLs counted": func(_ *kv.Store, tx *kv.Tx) error {
			return changeHost(tx, func(h *schema.Host) bool { return true },
				func(h *schema.Host) error { h.Known++; return nil })
		},
		"visits counted in run": func(_ *kv.Store, tx *kv.Tx) error {
			return changeHost(tx, func(h *schema.Host) bool { return h.RunVisited > 0 },
				func(h *schema.Host) error { h.RunVisited--; return nil })
		},
		"run 1: ": func(_ *kv.Store, tx *kv.Tx) error {
			runs, err := tx.Runs.All()
			if err != nil {
				return err
			}
			runs[0].Pages++
			return tx.Runs.Put(runs[0])
		},
	}
}

// changeHost changes the first host for which a function holds.
func changeHost(tx *kv.Tx, which func(*schema.Host) bool, change func(*schema.Host) error) error {
	found := schema.HostID(0)
	err := tx.Hosts.Each(1, func(h *schema.Host) (bool, error) {
		if which(h) {
			found = h.ID
		}
		return found == 0, nil
	})
	if err != nil || found == 0 {
		return errors.Join(err, errNone)
	}
	h, err := tx.Hosts.At(found)
	if err == nil {
		err = change(h)
	}
	tx.Hosts.Put(h)
	return err
}
