package kv_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// fieldsOf writes fields as values have them: numbers as varints, texts with their length, bytes as
// they are.
func fieldsOf(fields ...any) []byte {
	var b []byte
	for _, f := range fields {
		switch f := f.(type) {
		case int:
			b = binary.AppendUvarint(b, uint64(f))
		case string:
			b = append(binary.AppendUvarint(b, uint64(len(f))), f...)
		case []byte:
			b = append(b, f...)
		}
	}
	return b
}

// zeros is a frame of zstd (RFC 8878) that holds so many zeros: a header with their number, and blocks
// of one byte that is repeated.
func zeros(n int) []byte {
	const most = 128 << 10
	frame := binary.LittleEndian.AppendUint32([]byte{0x28, 0xb5, 0x2f, 0xfd, 0xa0}, uint32(n))
	for left := n; left > 0; left -= min(left, most) {
		head := min(left, most)<<3 | 1<<1
		if left <= most {
			head |= 1
		}
		frame = append(frame, byte(head), byte(head>>8), byte(head>>16), 0)
	}
	return frame
}

// stored is a frame of zstd that holds a text as it is.
func stored(text []byte) []byte {
	frame := binary.LittleEndian.AppendUint32([]byte{0x28, 0xb5, 0x2f, 0xfd, 0xa0}, uint32(len(text)))
	head := len(text)<<3 | 1
	return append(append(frame, byte(head), byte(head>>8), byte(head>>16)), text...)
}

// forge gives a value of a file other fields, with the right checksum.
func forge(t testing.TB, path, bucket string, key, fields []byte) {
	t.Helper()
	if err := kv.WriteRaw(path, bucket, key, kv.Seal(bucket, key, fields)); err != nil {
		t.Fatal(err)
	}
}

// keysOf returns the keys of a bucket.
func keysOf(t testing.TB, path, bucket string) (keys [][]byte) {
	t.Helper()
	err := kv.EachRaw(path, func(name string, key, _ []byte) {
		if name == bucket {
			keys = append(keys, key)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// openToRead opens a file for reading until the test ends.
func openToRead(t testing.TB, path string) *kv.Store {
	t.Helper()
	s, err := kv.Open(path, kv.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// withAnchors writes a file of so many commits, each of a visit with one anchor.
func withAnchors(t testing.TB, commits int) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "state.bolt")
	s, err := kv.Open(path, kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s.FastForTests()
	for i := range commits {
		update(t, s, func(tx *kv.Tx) error {
			id, err := addURL(s, tx, "a.test", fmt.Sprint("/", i))
			if err := errors.Join(err, tx.Runs.Put(schema.Run{ID: 1})); err != nil {
				return err
			}
			_, err = tx.Visits.Add(&schema.Visit{URL: id, Run: 1, State: schema.Processed, Links: []schema.Link{
				{To: id, Kinds: schema.Kinds(0).Add(schema.LinkAnchor), Anchor: fmt.Sprint("anchor ", i)}}})
			return err
		})
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// fillAll reads the anchors of all visits together, or of each by itself.
func fillAll(s *kv.Store, together bool) (anchors []string, err error) {
	err = s.View(func(tx *kv.Tx) error {
		var all []kv.Linked
		every := func(schema.Seq, schema.ID) bool { return true }
		err := tx.Visits.EachLinks(every, nil, func(l *kv.Linked) error {
			one := *l
			one.Links = append([]schema.Link(nil), l.Links...)
			all = append(all, one)
			return nil
		})
		if together && err == nil {
			err = tx.Visits.FillAnchors(all, func(schema.ID) bool { return true })
		}
		for i := 0; i < len(all) && err == nil; i++ {
			if !together {
				v := &schema.Visit{Seq: all[i].Seq, Links: all[i].Links}
				if v, err = tx.Visits.At(all[i].Seq); err == nil {
					err = tx.Visits.Anchors(v)
					all[i].Links = v.Links
				}
			}
			for _, l := range all[i].Links {
				anchors = append(anchors, l.Anchor)
			}
		}
		return err
	})
	return anchors, err
}

// TestBombs has small values hold very much. They are damage, and are found before the memory is
// filled.
func TestBombs(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	const commits, bomb = 8, 256 << 20
	path := withAnchors(t, commits)
	for i, key := range keysOf(t, path, "anchors") {
		forge(t, path, "anchors", key, fieldsOf(i+1, i+1, bomb, zeros(bomb)))
	}
	forge(t, path, "robots", []byte{0, 0, 0, 1}, fieldsOf(0, 400, []byte{1}, bomb, zeros(bomb)))
	for name, read := range map[string]func(s *kv.Store) error{
		"anchors together": func(s *kv.Store) error { _, err := fillAll(s, true); return err },
		"anchors":          func(s *kv.Store) error { _, err := fillAll(s, false); return err },
		"robots.txt": func(s *kv.Store) error {
			return s.View(func(tx *kv.Tx) error { _, _, err := tx.Hosts.Robots(1); return err })
		},
		"check": func(*kv.Store) error {
			problems := 0
			if err := kv.Check(path, func(string) { problems++ }); err != nil || problems < commits+1 {
				return fmt.Errorf("%d problems, %w", problems, err)
			}
			return kv.ErrDamaged
		},
	} {
		s := openToRead(t, path)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := read(s)
		runtime.ReadMemStats(&after)
		if !errors.Is(err, kv.ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
		if filled := (after.TotalAlloc - before.TotalAlloc) >> 20; filled > 64 {
			t.Errorf("%s: %d MB were filled", name, filled)
		}
	}
}

// TestLargestAnchors writes as many anchors as a page can have, each of 120 characters of four bytes,
// behind others that almost fill a part. All can be read.
func TestLargestAnchors(t *testing.T) {
	const links = 4000
	path := filepath.Join(t.TempDir(), "state.bolt")
	s := openStore(t, path)
	s.FastForTests()
	var want []string
	update(t, s, func(tx *kv.Tx) error {
		v := &schema.Visit{State: schema.Processed}
		for i := range links {
			id, err := addURL(s, tx, "a.test", fmt.Sprint("/", i))
			if err != nil {
				return err
			}
			v.URL = id
			v.Links = append(v.Links, schema.Link{To: id, Kinds: schema.Kinds(0).Add(schema.LinkAnchor),
				Anchor: strings.Repeat(string(rune(0x10000+i)), 120)})
		}
		small, large := *v, *v
		small.Links, large.Links = slices.Clone(v.Links[:543]), v.Links
		for _, v := range []*schema.Visit{&small, &large} {
			for _, l := range v.Links {
				want = append(want, l.Anchor)
			}
			if _, err := tx.Visits.Add(v); err != nil {
				return err
			}
		}
		return nil
	})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if parts := keysOf(t, path, "anchors"); len(parts) != 1 {
		t.Fatalf("the anchors are in %d parts", len(parts))
	}
	for _, together := range []bool{true, false} {
		got, err := fillAll(openToRead(t, path), together)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("together %t: %v (-want +got):\n%.2000s", together, err, diff)
		}
	}
}

// TestOverlappingAnchors has two parts hold the anchors of the same visits, which are read side by
// side: that is damage, and only one of them is written down.
func TestOverlappingAnchors(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	const commits = 40
	path := withAnchors(t, commits)
	var all []byte
	for i := range commits {
		all = append(all, fieldsOf(i+1, 1, "of another part")...)
	}
	for _, key := range keysOf(t, path, "anchors") {
		forge(t, path, "anchors", key, fieldsOf(1, commits, len(all), stored(all)))
	}
	if _, err := fillAll(openToRead(t, path), true); !errors.Is(err, kv.ErrDamaged) {
		t.Errorf("anchors of %d visits in as many parts: %v", commits, err)
	}
	problems := 0
	if err := kv.Check(path, func(string) { problems++ }); err != nil || problems < commits-1 {
		t.Errorf("the check found %d problems, %v", problems, err)
	}
}
