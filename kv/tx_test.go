package kv_test

import (
	"encoding/binary"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// TestCollision gives two URLs of one host, and one of another, the same hash.
func TestCollision(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	s := openUnchecked(t, path)
	paths := []string{"/a", "/b", "/a"}
	hosts := []schema.HostID{1, 1, 2}
	update(t, s, func(tx *kv.Tx) error {
		for _, name := range []string{"x.example", "y.example"} {
			if _, err := tx.Hosts.Add(name); err != nil {
				return err
			}
		}
		for i := range paths {
			if _, err := tx.URLs.Add(schema.URL{Host: hosts[i], PathQuery: paths[i]}, 42); err != nil {
				return err
			}
		}
		return nil
	})
	s.Close()
	s = openUnchecked(t, path)
	view(t, s, func(tx *kv.Tx) error {
		for i := range paths {
			id, found, err := tx.URLs.Lookup(42, hosts[i], schema.KindPage, paths[i])
			if id != schema.ID(i+1) || !found || err != nil {
				t.Errorf("Lookup(%d, %q) = %d, %t, %v; want %d", hosts[i], paths[i], id, found, err, i+1)
			}
		}
		for _, tt := range []struct {
			host schema.HostID
			kind schema.URLKind
			path string
		}{{2, schema.KindPage, "/b"}, {1, schema.KindSitemap, "/a"}, {1, schema.KindPage, "/c"}} {
			if id, found, err := tx.URLs.Lookup(42, tt.host, tt.kind, tt.path); found || err != nil {
				t.Errorf("Lookup(%v) = %d, %t, %v; want none", tt, id, found, err)
			}
		}
		return nil
	})
}

func TestHostsBelow(t *testing.T) {
	s := openStore(t, filepath.Join(t.TempDir(), "state.db"))
	names := []string{"example.com", "example.com:8443", "a.example.com", "b.a.example.com", "example-a.com", "example.co",
		"xexample.com",
		"192.0.2.1", "2.1", "[2001:db8::1]", "[2001:db8::1]:81", "com"}
	update(t, s, func(tx *kv.Tx) error {
		for _, name := range names {
			if _, err := tx.Hosts.Add(name); err != nil {
				return err
			}
		}
		return nil
	})
	tests := map[string][]string{
		"example.com":      {"example.com", "a.example.com", "b.a.example.com", "example.com:8443"},
		"a.example.com":    {"a.example.com", "b.a.example.com"},
		"example.com:8443": {"example.com:8443"},
		"192.0.2.1":        {"192.0.2.1"},
		"[2001:db8::1]":    {"[2001:db8::1]", "[2001:db8::1]:81"},
		"none":             nil,
	}
	view(t, s, func(tx *kv.Tx) error {
		for host, want := range tests {
			var got []string
			err := tx.Hosts.Below(host, func(name string, id schema.HostID) bool {
				if names[id-1] != name {
					t.Errorf("host %d is %q; want %q", id, name, names[id-1])
				}
				got = append(got, name)
				return true
			})
			slices.Sort(got)
			slices.Sort(want)
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("below %q: %v\n%s", host, err, diff)
			}
		}
		return nil
	})
}

// TestManyChunks invalidates a long queue: its remains are deleted gradually.
func TestManyChunks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	s := openStore(t, path)
	s.FastForTests()
	const n = 64*600 + 7
	update(t, s, func(tx *kv.Tx) error {
		id, err := addURL(s, tx, "example.com", "/")
		if err != nil {
			return err
		}
		h, err := tx.Hosts.At(1)
		for i := 0; i < n && err == nil; i++ {
			err = tx.Frontier.Push(h, 2, id)
		}
		return err
	})
	if got := chunks(t, s, path); got != 600 {
		t.Fatalf("%d chunks; want 600", got)
	}
	s = openStore(t, path)
	update(t, s, func(tx *kv.Tx) error {
		if _, err := tx.Depths.NewGeneration(); err != nil {
			return err
		}
		h, err := tx.Hosts.At(1)
		if err != nil {
			return err
		}
		return tx.Frontier.Push(h, 2, 1)
	})
	if got := chunks(t, s, path); got == 0 || got >= 600 {
		t.Errorf("%d chunks after the first sweep; want some", got)
	}
	s = openStore(t, path)
	for range 3 {
		update(t, s, func(tx *kv.Tx) error {
			h, err := tx.Hosts.At(1)
			if err != nil {
				return err
			}
			return tx.Frontier.Trim(h, func(schema.ID) bool { return true })
		})
	}
	update(t, s, func(tx *kv.Tx) error {
		h, err := tx.Hosts.At(1)
		if err == nil && (h.Waiting != 0 || len(h.Queues) != 0) {
			t.Errorf("%d wait in %v; want none", h.Waiting, h.Queues)
		}
		return err
	})
	if got := chunks(t, s, path); got != 0 {
		t.Errorf("%d chunks in the end; want none", got)
	}
}

// chunks closes a store and counts its frontier chunks.
func chunks(t *testing.T, s *kv.Store, path string) int {
	t.Helper()
	s.Close()
	n := 0
	err := kv.EachRaw(path, func(bucket string, key, _ []byte) {
		if bucket == "frontier" {
			n++
			if binary.BigEndian.Uint32(key) != 1 {
				t.Errorf("chunk of another host: %x", key)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestOldDepthsGo creates generations and looks for depths of older ones.
func TestOldDepthsGo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	s := openStore(t, path)
	s.FastForTests()
	for i := range 100 {
		update(t, s, func(tx *kv.Tx) error {
			id, err := addURL(s, tx, "example.com", fmt.Sprint("/", i))
			tx.Depths.Lower(id, 3, 0)
			return err
		})
	}
	update(t, s, func(tx *kv.Tx) error { _, err := tx.Depths.NewGeneration(); return err })
	for range 4 {
		update(t, s, func(tx *kv.Tx) error { tx.Depths.Lower(1, 4, 4); return nil })
	}
	if d, h := s.Depth(1); d != 4 || h != 4 {
		t.Errorf("Depth(1) = %d, %d; want 4, 4", d, h)
	}
	if d, _ := s.Depth(2); d != kv.NoDepth {
		t.Errorf("Depth(2) = %d; want none", d)
	}
	s.Close()
	n := 0
	err := kv.EachRaw(path, func(bucket string, key, _ []byte) {
		if bucket == "depths" {
			n++
		}
	})
	if n != 1 || err != nil {
		t.Errorf("%d values of depths, %v; want 1", n, err)
	}
}

// TestLargeCommit splits packed values at their largest size.
func TestLargeCommit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	s := openStore(t, path)
	s.FastForTests()
	const n = 120_000
	update(t, s, func(tx *kv.Tx) error {
		for i := range n {
			id, err := addURL(s, tx, "example.com", fmt.Sprint("/", i))
			if err != nil {
				return err
			}
			tx.Depths.Lower(id, uint8(i%200), 1)
		}
		for i := range n {
			v := &schema.Visit{URL: schema.ID(i + 1), Links: []schema.Link{{To: 1, Anchor: fmt.Sprint("anchor ", i)}}}
			if _, err := tx.Visits.Add(v); err != nil {
				return err
			}
		}
		v, err := tx.Visits.At(2)
		if err == nil {
			err = tx.Visits.Anchors(v)
		}
		if err != nil || v.Links[0].Anchor != "anchor 1" {
			t.Errorf("visit 2 within its commit: %v, %v", v, err)
		}
		return nil
	})
	s.Close()
	largest := 0
	if err := kv.EachRaw(path, func(_ string, _, value []byte) { largest = max(largest, len(value)) }); err != nil {
		t.Fatal(err)
	}
	if largest > 300<<10 {
		t.Errorf("a value of %d bytes", largest)
	}
	s = openStore(t, path)
	if d, _ := s.Depth(n); d != (n-1)%200 || s.Latest(n) != n {
		t.Errorf("URL %d: depth %d, latest %d", n, d, s.Latest(n))
	}
	view(t, s, func(tx *kv.Tx) error {
		for _, seq := range []schema.Seq{1, n / 2, n} {
			v, err := tx.Visits.At(seq)
			if err != nil {
				return err
			}
			if err := tx.Visits.Anchors(v); err != nil || v.Links[0].Anchor != fmt.Sprint("anchor ", seq-1) {
				t.Errorf("visit %d: anchor %q, %v", seq, v.Links[0].Anchor, err)
			}
		}
		return nil
	})
}
