package kv_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/process"
)

// sample writes a small store with something in every bucket and returns its bytes.
func sample(t testing.TB) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sample.db")
	s := openStore(t, path)
	s.FastForTests()
	g := newGrower(s, 20)
	for range 4 {
		if err := g.commit(40); err != nil {
			t.Fatal(err)
		}
	}
	update(t, s, func(tx *kv.Tx) error {
		norm, err := tx.URLs.Norm(3)
		if err != nil {
			return err
		}
		_, err = tx.URLs.AddForm(3, norm, norm+"?other", false)
		_, err2 := tx.URLs.AddForm(4, norm, norm+"/", false)
		return errors.Join(err, err2, tx.Runs.Put(schema.Run{ID: 1, End: schema.End{Kind: schema.EndStopped, Detail: "done"}}),
			tx.Hosts.PutRobots(1, schema.RobotsCopy{Status: 200, Text: []byte("x")}),
			tx.Runs.PutConfig([32]byte{1}, []byte("config")),
			tx.Runs.CountUp("rule", "group", 1), tx.Depths.SetPending([]schema.ID{1, 2}))
	})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// mutate damages a copy of a file in one of the ways that occur in practice. A page that is replaced by its
// own earlier state is stale, not damaged: no checksum of a record reveals that.
func mutate(r *rand.Rand, raw []byte) (mutant []byte, stale bool) {
	const page = 4096
	raw = append([]byte{}, raw...)
	at := func() int { return r.IntN(len(raw)/page) * page }
	switch r.IntN(8) {
	case 0: // a bit anywhere
		raw[r.IntN(len(raw))] ^= 1 << r.IntN(8)
	case 1: // a byte of a page's head or first elements
		raw[at()+r.IntN(64)] = byte(r.Uint32())
	case 2: // a zeroed page
		clear(raw[at():][:page])
	case 3: // two pages swapped
		a, b := raw[at():][:page], raw[at():][:page]
		for i := range a {
			a[i], b[i] = b[i], a[i]
		}
	case 4: // a cut
		raw = raw[:r.IntN(len(raw))]
	case 5: // noise
		for range 50 {
			raw[r.IntN(len(raw))] = byte(r.Uint32())
		}
	case 6: // a page written over another, under its own number
		a, b := at(), at()
		copy(raw[a+8:a+page], raw[b+8:b+page])
		stale = true
	case 7: // low page numbers in branches
		i := at()
		raw[i+16+8+16*r.IntN(8)] = byte(r.IntN(len(raw) / page))
	}
	return raw, stale
}

// TestDamage opens, reads, checks, updates and copies damaged files. Each may fail, but none may end the
// process, hang, or read data that was not written.
//
// Every mutant runs in a child process of this test, so that a crash is counted instead of ending the test.
func TestDamage(t *testing.T) {
	if dir := os.Getenv("KV_DAMAGE_DIR"); dir != "" {
		sufferDamage(t, dir)
		return
	}
	mutants := 60
	if os.Getenv("RIPPLE_PROOF") == "full" {
		mutants = 1000
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "raw"), sample(t), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestDamage$", "-test.v",
		fmt.Sprintf("-test.timeout=%v", time.Minute+time.Duration(mutants)*time.Second))
	cmd.Env = append(os.Environ(), "KV_DAMAGE_DIR="+dir, fmt.Sprintf("KV_DAMAGE_COUNT=%d", mutants))
	out, err := cmd.CombinedOutput()
	text := string(out)
	if err != nil {
		t.Errorf("child: %v\n%s", err, text[:min(len(text), 12000)])
	}
	if at := strings.Index(text, "mutants:"); at >= 0 {
		t.Log(strings.TrimSpace(strings.SplitN(text[at:], "\n", 2)[0]))
	} else {
		t.Error("the child did not come to its end")
	}
}

func sufferDamage(t *testing.T, dir string) {
	raw, err := os.ReadFile(filepath.Join(dir, "raw"))
	if err != nil {
		t.Fatal(err)
	}
	var mutants int
	fmt.Sscan(os.Getenv("KV_DAMAGE_COUNT"), &mutants)
	path := filepath.Join(dir, "mutant")
	want := digest(t, filepath.Join(dir, "raw"))
	base := uint64(7)
	fmt.Sscan(os.Getenv("KV_DAMAGE_SEED"), &base)
	opened, read, found := 0, 0, 0
	for seed := range mutants {
		mutant, stale := mutate(rand.New(rand.NewPCG(base, uint64(seed))), raw)
		if err := os.WriteFile(path, mutant, 0o600); err != nil {
			t.Fatal(err)
		}
		began := process.CPUTime()
		problems := 0
		if err := kv.Check(path, func(string) { problems++ }); err != nil && !refused(err) {
			t.Errorf("mutant %d: check: %v", seed, err)
		} else if err != nil || problems > 0 {
			found++
		}
		s, err := kv.Open(path, kv.Options{})
		if err != nil {
			if !refused(err) {
				t.Errorf("mutant %d: open: %v", seed, err)
			}
			continue
		}
		opened++
		s.FastForTests()
		got, err := readAll(s)
		switch {
		case err == nil && got != want && !stale:
			t.Errorf("mutant %d was read back wrong, with %d problems: %s", seed, problems, difference(want, got))
		case err == nil:
			read++
		case !refused(err):
			t.Errorf("mutant %d: read: %v", seed, err)
		}
		_, _ = s.Snapshot(io.Discard)
		if err := newGrower(s, s.Hosts()).commit(20); err != nil && !refused(err) && !strings.Contains(err.Error(), "kv:") {
			t.Errorf("mutant %d: update: %v", seed, err)
		}
		s.Close()
		if d := process.CPUTime() - began; d > 10*time.Second {
			t.Errorf("mutant %d took %v", seed, d)
		}
	}
	if found == 0 || opened == 0 || read == 0 {
		t.Error("no mutant was found, or none survived: nothing was tried")
	}
	fmt.Printf("mutants: %d, problems found in %d, opened %d, read back whole %d\n", mutants, found, opened, read)
}

// refused reports whether an error says that a file is damaged or foreign.
func refused(err error) bool {
	return errors.Is(err, kv.ErrDamaged) || errors.Is(err, kv.ErrForeign) || errors.Is(err, kv.ErrFormat) ||
		errors.Is(err, kv.ErrNotFound)
}

func difference(want, got string) string {
	i := 0
	for i < min(len(want), len(got)) && want[i] == got[i] {
		i++
	}
	return fmt.Sprintf("...%.300q, not ...%.300q", got[max(0, i-100):], want[max(0, i-100):])
}

func digest(t *testing.T, path string) string {
	s, err := kv.Open(path, kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	d, err := readAll(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// readAll returns the whole content of a store as one text.
func readAll(s *kv.Store) (string, error) {
	var b strings.Builder
	err := s.View(func(tx *kv.Tx) error {
		err := tx.URLs.Each(1, func(u schema.URL) (bool, error) {
			forms, err := tx.URLs.Forms(u.ID)
			depth, hops := s.Depth(u.ID)
			fmt.Fprint(&b, u, forms, s.Latest(u.ID), depth, hops)
			return true, err
		})
		if err != nil {
			return err
		}
		err = tx.Visits.Each(1, func(v *schema.Visit) (bool, error) {
			err := tx.Visits.Anchors(v)
			fmt.Fprint(&b, *v)
			return true, err
		})
		if err != nil {
			return err
		}
		err = tx.Hosts.Each(1, func(h *schema.Host) (bool, error) {
			id, found, err := tx.Hosts.Lookup(h.Name)
			if err != nil {
				return false, err
			}
			c, ok, err := tx.Hosts.Robots(h.ID)
			fmt.Fprint(&b, *h, id, found, c, ok)
			if err == nil {
				err = tx.Frontier.Walk(h, func(p uint8, id schema.ID) bool { fmt.Fprint(&b, p, id); return true })
			}
			return true, err
		})
		if err != nil {
			return err
		}
		runs, err1 := tx.Runs.All()
		config, err2 := tx.Runs.Config([32]byte{1})
		caps, err3 := tx.Runs.Count("rule", "group")
		pending, err4 := tx.Depths.Pending()
		fmt.Fprint(&b, runs, config, caps, pending)
		return errors.Join(err1, err2, err3, err4)
	})
	return b.String(), err
}

// TestEveryFlipIsFound flips one bit of every value and checks the file.
func TestEveryFlipIsFound(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	raw := sample(t)
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	type record struct {
		bucket     string
		key, value []byte
	}
	byBucket := map[string][]record{}
	err := kv.EachRaw(path, func(bucket string, key, value []byte) {
		byBucket[bucket] = append(byBucket[bucket], record{bucket, key, value})
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(byBucket) < 16 {
		t.Errorf("the sample has values in %d buckets only", len(byBucket))
	}
	r := rand.New(rand.NewPCG(1, 1))
	for bucket, records := range byBucket {
		for range 3 {
			rec := records[r.IntN(len(records))]
			rec.value = bytes.Clone(rec.value)
			rec.value[r.IntN(len(rec.value))] ^= 1 << r.IntN(8)
			if err := os.WriteFile(path, raw, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := kv.WriteRaw(path, bucket, rec.key, rec.value); err != nil {
				t.Fatal(err)
			}
			problems := 0
			err := kv.Check(path, func(string) { problems++ })
			if err == nil && problems == 0 {
				t.Errorf("%s %x: a flipped bit was not found", bucket, rec.key)
			}
		}
	}
}
