package merge_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
	"github.com/sumi-ripple/ripple/schema/shard"
)

// A file is one of two shards of a terrain.
type file struct {
	t     *testing.T
	store *kv.Store
	path  string
	ids   map[string]schema.ID // by identity
}

func newFile(t *testing.T, part schema.Part) *file {
	t.Helper()
	f := &file{t: t, path: filepath.Join(t.TempDir(), "shard.bolt"), ids: map[string]schema.ID{}}
	store, err := kv.Open(f.path, kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	f.store = store
	f.update(func(tx *kv.Tx) error {
		if part == (schema.Part{}) {
			return nil
		}
		return tx.Part.Put(part)
	})
	return f
}

func (f *file) update(do func(tx *kv.Tx) error) {
	f.t.Helper()
	if err := f.store.Update(do); err != nil {
		f.t.Fatal(err)
	}
}

func (f *file) run(id schema.RunID, status schema.RunStatus, pages int) {
	f.t.Helper()
	f.runUnder("", id, status, pages)
}

// runUnder is run under a configuration with more keys.
func (f *file) runUnder(more string, id schema.RunID, status schema.RunStatus, pages int) {
	f.t.Helper()
	cfg, _, err := config.Parse([]byte(more+seedOnly), "", nil)
	if err != nil {
		f.t.Fatal(err)
	}
	f.update(func(tx *kv.Tx) error {
		err := tx.Runs.PutConfig([32]byte{byte(id)}, cfg.Effective())
		return errors.Join(err, tx.Runs.Put(schema.Run{
			ID: id, Config: [32]byte{byte(id)}, FirstVisit: f.store.LastSeq() + 1, Status: status, Pages: pages,
			Requests: 2 * pages, Errors: map[string]int{"other": pages}, Started: second(10 + pages), Walked: true,
		}))
	})
}

func second(n int) time.Time { return time.Unix(1e9+int64(n), 0).UTC() }

// see records that a page was seen at a given second, linked from another.
func (f *file) see(run schema.RunID, host, path, from string, at int, forms ...string) {
	f.t.Helper()
	f.update(func(tx *kv.Tx) error {
		id, found, err := tx.Hosts.Lookup(host)
		if err == nil && !found {
			var h *schema.Host
			if h, err = tx.Hosts.Add(host); err == nil {
				id = h.ID
			}
		}
		if err != nil {
			return err
		}
		norm := "https://" + host + path
		u := schema.URL{Host: id, PathQuery: path, Referrer: f.ids[from], FirstSeen: second(at), FirstRun: run}
		if f.ids[norm], err = tx.URLs.Add(u, f.store.Hash(schema.KindPage, norm)); err != nil {
			return err
		}
		for _, form := range forms {
			if _, err := tx.URLs.AddForm(f.ids[norm], norm, form, false); err != nil {
				return err
			}
		}
		return nil
	})
}

func (f *file) host(name string, change func(h *schema.Host)) {
	f.t.Helper()
	f.update(func(tx *kv.Tx) error {
		id, _, err := tx.Hosts.Lookup(name)
		if err != nil {
			return err
		}
		h, err := tx.Hosts.At(id)
		if err == nil {
			change(h)
			tx.Hosts.Put(h)
		}
		return err
	})
}

// hosts returns one host of each of the two shards.
func hosts(t *testing.T) (names [2]string) {
	rule, err := shard.New(2)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; names[0] == "" || names[1] == ""; i++ {
		name := fmt.Sprintf("h%d.test", i)
		names[rule.Of(name)] = name
	}
	return names
}

func part(n int) schema.Part {
	return schema.Part{Terrain: [16]byte{1}, Rule: shard.Version, Shard: n, Shards: 2, Run: 1, Configuration: 1}
}

func view(t *testing.T, s *kv.Store, f func(tx *kv.Tx) error) {
	t.Helper()
	if err := s.View(f); err != nil {
		t.Fatal(err)
	}
}

func urlsIn(t *testing.T, s *kv.Store) (got []string) {
	view(t, s, func(tx *kv.Tx) error {
		return tx.URLs.Each(1, func(u schema.URL) (bool, error) {
			norm, err := tx.URLs.Norm(u.ID)
			forms, err2 := tx.URLs.Forms(u.ID)
			depth, _ := s.Depth(u.ID)
			got = append(got, fmt.Sprintf("%s from %d at %d, %d forms, depth %d", norm, u.Referrer,
				u.FirstSeen.Unix()-1e9, len(forms.All()), depth))
			return true, errors.Join(err, err2)
		})
	})
	return got
}

func visitsIn(t *testing.T, s *kv.Store) (got []string) {
	view(t, s, func(tx *kv.Tx) error {
		for seq := schema.Seq(1); seq <= s.LastSeq(); seq++ {
			v, err := tx.Visits.At(seq)
			if err != nil {
				return err
			}
			if err := tx.Visits.Anchors(v); err != nil {
				return err
			}
			got = append(got, fmt.Sprintf("visit of %d, to %d: %s", v.URL, v.Links[0].To, v.Links[0].Anchor))
		}
		return nil
	})
	return got
}

// hostIn describes a host with its queue.
func hostIn(t *testing.T, s *kv.Store, name string) (got []string) {
	view(t, s, func(tx *kv.Tx) error {
		id, _, err := tx.Hosts.Lookup(name)
		if err != nil {
			return err
		}
		h, err := tx.Hosts.At(id)
		if err != nil {
			return err
		}
		got = append(got, fmt.Sprintf("https %t, overflow %d, delay %s, known %d, waiting %d", h.HTTPS,
			h.Overflow+h.OverflowBefore, h.CrawlDelay, h.Known, h.Waiting))
		return tx.Frontier.Walk(h, func(priority uint8, id schema.ID) bool {
			got = append(got, fmt.Sprintf("%d waits with %d", id, priority))
			return true
		})
	})
	return got
}

// runsIn lists the runs and the value n of the file.
func runsIn(t *testing.T, s *kv.Store) (got []string) {
	view(t, s, func(tx *kv.Tx) error {
		runs, err := tx.Runs.All()
		for _, r := range runs {
			got = append(got, fmt.Sprintf("run %d: %s, %d pages, %d requests, %d errors, since %d, visit %d", r.ID, r.Status,
				r.Pages, r.Requests, r.Errors["other"], r.Started.Unix()-1e9, r.FirstVisit))
		}
		value, err2 := tx.Meta.Value("n")
		got = append(got, string(value))
		return errors.Join(err, err2)
	})
	return got
}
