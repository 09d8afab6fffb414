package kv_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// A walked is the result of a walk over the log, one text for each visit or URL.
type walked []string

// walks returns all kinds of walks over records that are read ahead, by name. Each calls f before it records
// a result, and ends with f's error.
func walks() map[string]func(tx *kv.Tx, f func() error) (walked, error) {
	all := func(schema.Seq, schema.ID) bool { return true }
	odd := func(_ schema.Seq, id schema.ID) bool { return id%2 == 1 }
	type walk = func(tx *kv.Tx, f func() error) (walked, error)
	links := func(want func(schema.Seq, schema.ID) bool) walk {
		return func(tx *kv.Tx, f func() error) (w walked, err error) {
			err = tx.Visits.EachLinks(want, nil, func(l *kv.Linked) error {
				if l.Seq == 0 {
					return nil
				}
				if err := f(); err != nil {
					return err
				}
				w = append(w, fmt.Sprint(l.Seq, l.URL, l.Run, l.Stand, l.NoFollow, l.Links))
				return nil
			})
			return w, err
		}
	}
	return map[string]walk{
		"links": links(all), "some links": links(odd),
		"targets": func(tx *kv.Tx, f func() error) (w walked, err error) {
			err = tx.Visits.EachTargets(1, all, func(l *kv.Targeted) error {
				if err := f(); err != nil {
					return err
				}
				w = append(w, fmt.Sprint(*l))
				return nil
			})
			return w, err
		},
		"gists": func(tx *kv.Tx, f func() error) (w walked, err error) {
			err = tx.Visits.Gists(all, func(g *kv.Gist) error {
				if err := f(); err != nil {
					return err
				}
				w = append(w, fmt.Sprint(*g))
				return nil
			})
			return w, err
		},
		"visits": func(tx *kv.Tx, f func() error) (w walked, err error) {
			err = tx.Visits.Each(1, func(v *schema.Visit) (bool, error) {
				if err := f(); err != nil {
					return false, err
				}
				w = append(w, fmt.Sprint(*v))
				return true, nil
			})
			return w, err
		},
		"URLs": func(tx *kv.Tx, f func() error) (w walked, err error) {
			err = tx.URLs.Each(1, func(u schema.URL) (bool, error) {
				if err := f(); err != nil {
					return false, err
				}
				w = append(w, fmt.Sprint(u))
				return true, nil
			})
			return w, err
		},
	}
}

func nothing() error { return nil }

// logOf writes a log of a number of visits of pages, each with a number of links, in a few commits.
func logOf(t testing.TB, path string, visits, links int) {
	t.Helper()
	s, err := kv.Open(path, kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s.FastForTests()
	for begun := 0; begun < visits && err == nil; begun += 1000 {
		err = s.Update(func(tx *kv.Tx) error {
			if begun == 0 {
				if _, err := tx.Hosts.Add("a.test"); err != nil {
					return err
				}
			}
			for i := begun; i < min(begun+1000, visits); i++ {
				path := fmt.Sprintf("/%d", i)
				id, err := tx.URLs.Add(schema.URL{Host: 1, PathQuery: path, FirstRun: 1}, s.Hash(schema.KindPage, path))
				if err != nil {
					return err
				}
				v := &schema.Visit{URL: id, Run: 1, At: time.UnixMilli(int64(i)), State: schema.Processed,
					Content: schema.Content{Title: path, NoFollow: i%3 == 0}, Stand: schema.Seq(i / 2)}
				for to := id; to > 0 && len(v.Links) < links*(i%3); to -= min(to, 1+to/64) {
					v.Links = append(v.Links, schema.Link{To: to, Kinds: schema.Kinds(0).Add(schema.LinkAnchor),
						Place: schema.Place(to % 5), Rel: schema.Rel(to % 7), Anchor: path})
				}
				if _, err := tx.Visits.Add(v); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestWalksAgree walks over random logs, reading ahead on several cores and one by one in an update: the
// results are the same.
func TestWalksAgree(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	random := rand.New(rand.NewPCG(3, 1))
	for n := range 20 {
		path := filepath.Join(t.TempDir(), "state.bolt")
		visits := random.IntN(1 + 40*n)
		logOf(t, path, visits, []int{0, 3, 60}[n%3])
		s := openUnchecked(t, path)
		s.FastForTests()
		for name, walk := range walks() {
			var want, got walked
			update(t, s, func(tx *kv.Tx) (err error) { want, err = walk(tx, nothing); return err })
			view(t, s, func(tx *kv.Tx) (err error) { got, err = walk(tx, nothing); return err })
			if diff := cmp.Diff(want, got); diff != "" || name == "visits" && len(want) != visits {
				t.Fatalf("%s, %d of %d visits (-in an update +ahead):\n%s", name, len(want), visits, diff)
			}
		}
	}
}

// TestWalkIntoDamage damages one value of a long log: a walk returns everything before it, in order, and then
// the damage.
func TestWalkIntoDamage(t *testing.T) {
	const visits = 2000
	dir := t.TempDir()
	whole := filepath.Join(dir, "whole")
	logOf(t, whole, visits, 20)
	want := map[string]walked{}
	s := openUnchecked(t, whole)
	view(t, s, func(tx *kv.Tx) (err error) {
		for name, walk := range walks() {
			if want[name], err = walk(tx, nothing); err != nil {
				return err
			}
		}
		return nil
	})
	damages := map[string]func(path string, key []byte) error{
		"checksum": func(path string, key []byte) error { return kv.WriteRaw(path, "visits", key, []byte("no checksum")) },
		"sealed rubbish": func(path string, key []byte) error {
			return kv.WriteRaw(path, "visits", key, kv.Seal("visits", key, []byte{1, 0xff}))
		},
		"missing": func(path string, key []byte) error { return kv.DeleteRaw(path, "visits", key) },
	}
	for how, damage := range damages {
		for _, at := range []int{1, 16, 17, 272, 273, 1111, visits} {
			path := filepath.Join(dir, fmt.Sprint(how, at))
			key := binary.BigEndian.AppendUint64(nil, uint64(at))
			if err := errors.Join(duplicate(whole, path), damage(path, key)); err != nil {
				t.Fatal(err)
			}
			for name, walk := range walks() {
				if name == "URLs" {
					continue
				}
				s, err := kv.Open(path, kv.Options{ReadOnly: true})
				if err != nil {
					t.Fatal(err)
				}
				var got walked
				err = s.View(func(tx *kv.Tx) (err error) { got, err = walk(tx, nothing); return err })
				s.Close()
				n := at - 1
				if name == "some links" {
					n = at / 2
				}
				before := want[name][:n]
				if !errors.Is(err, kv.ErrDamaged) || !slices.Equal(got, before) {
					t.Errorf("%s, %s at %d: told of %d visits, want %d; %v", name, how, at, len(got), len(before), err)
				}
			}
		}
	}
}

// TestWalkEnds ends walks early, by their own error or because the consumer stops: they return nothing more,
// do not report damage after that point, and leave the store unchanged.
func TestWalkEnds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.bolt")
	logOf(t, path, 2000, 20)
	if err := kv.WriteRaw(path, "visits", binary.BigEndian.AppendUint64(nil, 1500), []byte("no checksum")); err != nil {
		t.Fatal(err)
	}
	s, err := kv.Open(path, kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s.FastForTests()
	enough := errors.New("enough")
	for name, walk := range walks() {
		for _, most := range []int{0, 1, 15, 16, 17, 300} {
			ctx, end := context.WithCancelCause(context.Background())
			told := 0
			err := s.View(func(tx *kv.Tx) error {
				w, err := walk(tx, func() error {
					if told == most {
						end(enough)
					}
					told++
					return context.Cause(ctx)
				})
				if len(w) != most || told != most+1 {
					t.Errorf("%s: told of %d visits, and asked for %d more", name, len(w), told-len(w))
				}
				return err
			})
			if !errors.Is(err, enough) {
				t.Errorf("%s, after %d: %v", name, most, err)
			}
		}
	}
	err = s.Update(func(tx *kv.Tx) error { _, err := tx.Hosts.Add("b.test"); return err })
	if err := errors.Join(err, s.Close()); err != nil { // would wait for a walk that is still reading
		t.Error(err)
	}
}

// TestWalkStops lets f end a walk without an error, and walks during another walk.
func TestWalkStops(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.bolt")
	logOf(t, path, 700, 3)
	s := openUnchecked(t, path)
	view(t, s, func(tx *kv.Tx) error {
		visits := 0
		err := tx.Visits.Each(100, func(v *schema.Visit) (bool, error) {
			visits++
			urls := 0
			err := tx.URLs.Each(v.URL, func(u schema.URL) (bool, error) { urls++; return u.ID < v.URL+40, nil })
			if want := min(41, s.URLs()-int(v.URL)+1); urls != want {
				t.Errorf("from URL %d on: told of %d, want %d", v.URL, urls, want)
			}
			return v.Seq < 400, err
		})
		if visits != 301 {
			t.Errorf("told of %d visits from 100 to 400", visits)
		}
		all := func(schema.Seq, schema.ID) bool { return true }
		for from, want := range map[schema.Seq]int{1: 700, 500: 201, 700: 1, 701: 0} {
			rest := 0
			err = errors.Join(err, tx.Visits.EachTargets(from, all, func(l *kv.Targeted) error { rest++; return nil }))
			if rest != want {
				t.Errorf("told of the targets of %d visits from %d on, want %d", rest, from, want)
			}
		}
		return err
	})
}
