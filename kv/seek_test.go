package kv_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/scaletest"
	"github.com/sumi-ripple/ripple/schema"
)

// TestLookupOfReader looks URLs up in a read-only store, in which the first look-ups work differently from
// later ones: one by one, several at once, some repeatedly, and some unknown.
func TestLookupOfReader(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.bolt")
	w := openStore(t, path)
	want := map[string]schema.ID{}
	update(t, w, func(tx *kv.Tx) error {
		for i := range 300 {
			path := fmt.Sprintf("/%d", i)
			id, err := addURL(w, tx, "a.test", path)
			if err != nil {
				return err
			}
			want[path] = id
		}
		return nil
	})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	s := scaletest.Open(t, path)
	err := s.View(func(tx *kv.Tx) error {
		host, _, err := tx.Hosts.Lookup("a.test")
		if err != nil {
			return err
		}
		hash := func(path string) uint64 { return s.Hash(schema.KindPage, "https://a.test"+path) }
		check := func(path string) {
			id, ok, err := tx.URLs.Lookup(hash(path), host, schema.KindPage, path)
			if err != nil || id != want[path] || ok != (want[path] != 0) {
				t.Errorf("%s: %d, %t, %v; want %d", path, id, ok, err, want[path])
			}
		}
		for _, path := range []string{"/7", "/7", "/none", "/299"} {
			check(path)
		}
		tx.URLs.Warm([]uint64{hash("/0"), hash("/7"), hash("/31"), hash("/nowhere")})
		for _, path := range []string{"/0", "/31", "/nowhere", "/7"} {
			check(path)
		}
		for i := range 320 { // more than are looked up separately
			check(fmt.Sprintf("/%d", i))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
