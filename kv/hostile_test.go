package kv_test

import (
	"bytes"
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
	"github.com/sumi-ripple/ripple/kv/scaletest"
	"github.com/sumi-ripple/ripple/schema"
)

// fieldsOf encodes fields as in values: numbers as varints, texts with their length, bytes unchanged.
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

// zeros returns a zstd frame (RFC 8878) of n zeros: a header with their number, and blocks of one repeated
// byte.
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

// stored returns a zstd frame with an uncompressed text.
func stored(text []byte) []byte {
	frame := binary.LittleEndian.AppendUint32([]byte{0x28, 0xb5, 0x2f, 0xfd, 0xa0}, uint32(len(text)))
	head := len(text)<<3 | 1
	return append(append(frame, byte(head), byte(head>>8), byte(head>>16)), text...)
}

// forge replaces the fields of a value in a file, with a correct checksum.
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

// ask opens a file for reading, and runs f in a transaction.
func ask(t testing.TB, path string, f func(tx *kv.Tx) error) error {
	t.Helper()
	s, err := kv.Open(path, kv.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	return s.View(f)
}

// withAnchors writes a file with the given number of commits, each of a visit with one anchor.
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

// fillAll reads the anchors of all visits together, or of each separately.
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

// TestBombs has small values that hold very much, or claim to. They are damage, detected before memory is
// filled.
func TestBombs(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	const commits, bomb = 8, 256 << 20
	path := withAnchors(t, commits)
	for i, key := range keysOf(t, path, "anchors") {
		forge(t, path, "anchors", key, fieldsOf(i+1, i+1, bomb, zeros(bomb)))
	}
	forge(t, path, "robots", []byte{0, 0, 0, 1}, fieldsOf(0, 400, []byte{1}, bomb, zeros(bomb)))
	said := [32]byte{1} // claims to hold as much as a configuration with all its lists may
	forge(t, path, "configs", said[:], fieldsOf(1<<30, stored([]byte("little"))))
	for name, read := range map[string]func(s *kv.Store) error{
		"configuration": func(s *kv.Store) error {
			return s.View(func(tx *kv.Tx) error { _, err := tx.Runs.Config(said); return err })
		},
		"anchors together": func(s *kv.Store) error { _, err := fillAll(s, true); return err },
		"anchors":          func(s *kv.Store) error { _, err := fillAll(s, false); return err },
		"robots.txt": func(s *kv.Store) error {
			return s.View(func(tx *kv.Tx) error { _, _, err := tx.Hosts.Robots(1); return err })
		},
		"check": func(*kv.Store) error {
			problems := 0
			if err := kv.Check(path, func(string) { problems++ }); err != nil || problems < commits+2 {
				return fmt.Errorf("%d problems, %w", problems, err)
			}
			return kv.ErrDamaged
		},
	} {
		s := scaletest.Open(t, path)
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

// TestLargestAnchors writes as many anchors as a page can have, each of 120 characters of four bytes, after
// others that almost fill a part. All can be read.
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
		got, err := fillAll(scaletest.Open(t, path), together)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("together %t: %v (-want +got):\n%.2000s", together, err, diff)
		}
	}
}

// TestOverlappingAnchors has two parts with the anchors of the same visits, which are read concurrently: this
// is damage, and only one of them is used.
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
	if _, err := fillAll(scaletest.Open(t, path), true); !errors.Is(err, kv.ErrDamaged) {
		t.Errorf("anchors of %d visits in as many parts: %v", commits, err)
	}
	problems := 0
	if err := kv.Check(path, func(string) { problems++ }); err != nil || problems < commits-1 {
		t.Errorf("the check found %d problems, %v", problems, err)
	}
}

// A named is what a forged visit refers to.
type named struct {
	url, prev, stand, redirect int
	links, sitemap             []byte // with their number
}

func (n named) fields() []byte {
	one := func(b []byte) []byte {
		if b == nil {
			return []byte{0}
		}
		return b
	}
	return fieldsOf(n.url, one(n.links), 1, 2, 0 /* at */, n.prev, n.stand, 0, int(schema.Processed), 0, 0 /* shape */, 0,
		n.redirect, 0, 0, 0, "" /* title */, 0, "", 0, "", 0, "", "", 0, "", 0 /* fresh */, 1, 0, 0 /* reason */, "", 0, "", 0,
		one(n.sitemap), 0, 0, 0, 0, 0, 0, 0, 0, 0, "" /* preferences */, 0)
}

// TestNamesWhatIsNotThere has a visit refer to URLs or visits that do not exist, and to URLs twice. No reader
// receives them.
func TestNamesWhatIsNotThere(t *testing.T) {
	path := withAnchors(t, 3)
	third := binary.BigEndian.AppendUint64(nil, 3)
	link := func(to ...int) (links []byte) {
		links = fieldsOf(len(to) << 1)
		for _, delta := range to {
			links = append(links, fieldsOf(delta, 0)...)
		}
		return links
	}
	readers := walks()
	readers["at"] = func(tx *kv.Tx, _ func() error) (walked, error) { _, err := tx.Visits.At(3); return nil, err }
	readers["skim"] = func(tx *kv.Tx, _ func() error) (walked, error) {
		return nil, tx.Visits.SkimAt(3, new(schema.Visit))
	}
	readers["gist"] = func(tx *kv.Tx, _ func() error) (walked, error) { return nil, tx.Visits.GistAt(3, new(kv.Gist)) }
	readers["links alone"] = func(tx *kv.Tx, _ func() error) (walked, error) {
		_, err := tx.Visits.AppendLinks(nil, 3, 0)
		return nil, err
	}
	delete(readers, "URLs")
	every, linking := "at skim gist visits links gists targets", "at skim visits links targets links-alone"
	for _, tt := range []struct {
		name    string
		visit   named
		readers string // that detect it
	}{
		{"nothing odd", named{url: 3, prev: 2, stand: 1, links: link(1, 2), sitemap: fieldsOf(1, 6, 0, "")}, ""},
		{"a URL beyond the last", named{url: 4}, every},
		{"no URL", named{url: 0}, every},
		{"a link beyond the last", named{url: 3, links: link(1, 3)}, linking},
		{"a link to nothing", named{url: 3, links: link(0)}, linking},
		{"two links to one URL", named{url: 3, links: link(1, 0)}, linking},
		{"itself as the visit before", named{url: 3, prev: 3}, "at skim gist visits gists"},
		{"itself as standing", named{url: 3, stand: 3, links: link(1)}, every},
		{"a redirect beyond the last", named{url: 3, redirect: 4}, "at skim gist visits gists"},
		{"an entry beyond the last", named{url: 3, sitemap: fieldsOf(1, 8, 0, "")}, "at visits"},
		{"an entry that is nothing", named{url: 3, sitemap: fieldsOf(1, 0, 0, "")}, "at visits"},
	} {
		forge(t, path, "visits", third, tt.visit.fields())
		for name, read := range readers {
			err := ask(t, path, func(tx *kv.Tx) error { _, err := read(tx, nothing); return err })
			found := slices.Contains(strings.Fields(tt.readers), strings.ReplaceAll(name, " ", "-"))
			if name == "some links" {
				found = slices.Contains(strings.Fields(tt.readers), "links")
			}
			if found != errors.Is(err, kv.ErrDamaged) || !found && err != nil {
				t.Errorf("%s, %s: %v", tt.name, name, err)
			}
		}
	}
	forge(t, path, "visits", third, named{url: 3}.fields())
	forge(t, path, "visits", binary.BigEndian.AppendUint64(nil, 4), named{url: 3}.fields())
	for _, name := range []string{"visits", "links", "gists", "targets"} {
		err := ask(t, path, func(tx *kv.Tx) error { _, err := readers[name](tx, nothing); return err })
		if !errors.Is(err, kv.ErrDamaged) {
			t.Errorf("a visit behind the last, %s: %v", name, err)
		}
	}
}

// TestCheckOfStanding makes a visit refer for its links to visits of another URL, and to visits without links
// of their own: a check reports both.
func TestCheckOfStanding(t *testing.T) {
	path := withAnchors(t, 3)
	for seq, tt := range []struct {
		visit named
		wrong bool
	}{{named{url: 1}, false}, {named{url: 1, prev: 1, stand: 1}, false}, {named{url: 1, prev: 2, stand: 2}, true}} {
		forge(t, path, "visits", binary.BigEndian.AppendUint64(nil, uint64(seq)+1), tt.visit.fields())
		if told := toldOfStanding(t, path); told != tt.wrong {
			t.Errorf("visit %d: %t", seq+1, told)
		}
	}
	forge(t, path, "visits", binary.BigEndian.AppendUint64(nil, 3), named{url: 3, stand: 1}.fields())
	if !toldOfStanding(t, path) {
		t.Error("what stands of another URL is passed")
	}
}

func toldOfStanding(t *testing.T, path string) (told bool) {
	err := kv.Check(path, func(problem string) { told = told || strings.Contains(problem, "what stands of visit") })
	if err != nil {
		t.Fatal(err)
	}
	return told
}

// TestForgedValues has other values with contents that no release writes: reading them ends with an error.
func TestForgedValues(t *testing.T) {
	one, first := []byte{0, 0, 0, 1}, make([]byte, 8)
	host := func(queues ...byte) []byte {
		return slices.Concat(fieldsOf("a.test", ""), make([]byte, 13),
			fieldsOf(0, "", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, "", 0, 0, 0, 0, 0), []byte{1, 0} /* generation */, queues,
			make([]byte, 22))
	}
	walk := func(tx *kv.Tx) error {
		h, err := tx.Hosts.At(1)
		if err != nil {
			return err
		}
		return tx.Frontier.Walk(h, func(uint8, schema.ID) bool { return true })
	}
	urls := func(tx *kv.Tx) error {
		return tx.URLs.Each(1, func(schema.URL) (bool, error) { return true, nil })
	}
	for _, tt := range []struct {
		name, bucket string
		key, fields  []byte
		read         func(tx *kv.Tx) error
		want         error
	}{
		{"a queue", "hosts", one, host(1, 2, 0, 0, 0, 2, 2, 2), walk, nil},
		{"two queues of one priority", "hosts", one, host(2, 2, 0, 0, 0, 1, 2, 2, 0, 0, 0, 1, 2), walk, kv.ErrDamaged},
		{"a URL in line that is not there", "hosts", one, host(1, 2, 0, 0, 0, 1, 100), walk, kv.ErrDamaged},
		{"a name of no host", "hostnames", []byte("test,a,"), fieldsOf(2),
			func(tx *kv.Tx) error {
				return tx.Hosts.Below("a.test", func(string, schema.HostID) bool { return true })
			}, kv.ErrDamaged},
		{"run 0", "runs", make([]byte, 4), bytes.Repeat([]byte{0}, 60),
			func(tx *kv.Tx) error { _, err := tx.Runs.All(); return err }, kv.ErrDamaged},
		{"a referrer that came later", "urls", first, fieldsOf(3, 8, 1, "/0", 16, 2, "/1", 0, "/2"), urls, kv.ErrDamaged},
		{"a referrer", "urls", first, fieldsOf(3, 8, 1, "/0", 16, 1, "/1", 0, "/2"), urls, nil},
	} {
		path := withAnchors(t, 3)
		forge(t, path, tt.bucket, tt.key, tt.fields)
		if err := ask(t, path, tt.read); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

// TestForgedCounters has counters larger than a file allows: nothing iterates up to them.
func TestForgedCounters(t *testing.T) {
	for i, name := range []string{"URLs", "hosts", "visits"} {
		path := withAnchors(t, 3)
		counts := []any{4, 3, 1, 3, 0, 1, 0, 0, 0, 0}
		counts[i+1] = 1 << 31
		forge(t, path, "meta", []byte("state"), fieldsOf(counts...))
		if _, err := kv.Open(path, kv.Options{ReadOnly: true}); !errors.Is(err, kv.ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		problems := 0
		err := kv.Check(path, func(string) { problems++ })
		runtime.ReadMemStats(&after)
		filled := (after.TotalAlloc - before.TotalAlloc) >> 20
		if err != nil || problems == 0 || problems > 100 || filled > 64 {
			t.Errorf("%s: %d problems, %v; %d MB were filled", name, problems, err, filled)
		}
	}
}

// TestAllParts has a commit with the largest number of anchor parts, and none for a visit with anchors.
func TestAllParts(t *testing.T) {
	path := withAnchors(t, 1)
	key := keysOf(t, path, "anchors")[0]
	err := kv.WriteAllRaw(path, "anchors", func(put func(key, value []byte) error) error {
		for part := range 1 << 16 {
			binary.BigEndian.PutUint16(key[8:], uint16(part))
			if err := put(bytes.Clone(key), kv.Seal("anchors", key, fieldsOf(2, 2, 0))); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fillAll(scaletest.Open(t, path), false); !errors.Is(err, kv.ErrDamaged) {
		t.Error(err)
	}
}
