package lease

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// A storeFile is a real state file.
type storeFile struct{ *kv.Store }

func (f storeFile) Contains(o schema.Opening, commit uint64) (ok bool, err error) {
	err = f.View(func(tx *kv.Tx) (err error) { ok, err = tx.Openings.Contains(o, commit); return err })
	return ok, err
}

func (f storeFile) Begin() (o schema.Opening, err error) {
	err = f.Update(func(tx *kv.Tx) (err error) { o, err = tx.Openings.Begin(); return err })
	return o, err
}

func (f storeFile) Commit() uint64 { return f.LastCommit() }

// write commits something.
func (f storeFile) write(t *testing.T) {
	t.Helper()
	if err := f.Update(func(tx *kv.Tx) error { return nil }); err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, path string) storeFile {
	t.Helper()
	s, err := kv.Open(path, kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return storeFile{s}
}

// copied copies a state file that is not being written.
func copied(t *testing.T, path, name string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(other, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return other
}

// Copies of a real state file that lack a commit or an opening named by the record are refused, and are not
// written.
func TestCopiesOfAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shard.bolt")
	file := open(t, path)
	o, err := file.Begin()
	if err != nil {
		t.Fatal(err)
	}
	early := copied(t, path, "early.bolt") // lacks a commit
	file.write(t)
	whole := copied(t, path, "whole.bolt")
	other := filepath.Join(t.TempDir(), "other.bolt")
	stranger := open(t, other)
	if _, err := stranger.Begin(); err != nil {
		t.Fatal(err)
	}
	stranger.write(t)
	named := record{State: free, Node: "a", Opening: o[:], Commit: file.Commit()}
	tests := []struct {
		name string
		file storeFile
		want error
	}{
		{"early", open(t, early), ErrFile},
		{"another", stranger, ErrFile},
		{"whole", open(t, whole), nil},
		{"whole, again", file, ErrFile}, // the previous take has begun an opening that it lacks
	}
	in(t, func(t *testing.T, w *world) {
		w.place(named.encode())
		for _, tt := range tests {
			before := tt.file.Commit()
			l, err := Take(t.Context(), w.node(tt.name).claim(tt.file, ""))
			if !errors.Is(err, tt.want) || (l == nil) != (tt.want != nil) {
				t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
			}
			if (tt.file.Commit() > before) != (tt.want == nil) {
				t.Errorf("%s: %d commits are written", tt.name, tt.file.Commit()-before)
			}
			if l != nil {
				l.end()
			}
		}
	})
}

// The clocks of the machine advance together.
func TestMachineClock(t *testing.T) {
	clock := MachineClock()
	first := clock()
	for range 1000 {
		second := clock()
		if second.Run < first.Run || !Of(25*time.Second).trusts(first, second) {
			t.Fatalf("%v is followed by %v", first, second)
		}
		first = second
	}
	if off := time.Until(time.Unix(0, int64(first.Wall))).Abs(); off > time.Minute {
		t.Errorf("the wall clock is %s off", off)
	}
}

// A node with the lock of the file that a record was written for continues after two renewals; others wait for longer.
func TestSameFile(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		a, b := w.node("a"), w.node("b")
		file := &paperFile{}
		took(t, a.claim(file, "7:1@boot"))
		if _, after := took(t, a.claim(file, "7:1@boot")); !within(after, 30*time.Second) {
			t.Errorf("a claim that was never renewed is taken over after %s", after)
		}
		tests := []struct {
			claim Claim
			want  time.Duration
		}{
			{a.claim(file, "7:1@boot"), 20 * time.Second},
			{b.claim(file, "7:1@boot"), 30 * time.Second},
			{a.claim(file, "7:2@boot"), 30 * time.Second},
			{a.claim(file, ""), 30 * time.Second},
		}
		for _, tt := range tests {
			l, _ := took(t, a.claim(file, "7:1@boot"))
			stop := keep(t, l)
			time.Sleep(15 * time.Second)
			stop()
			if _, after := took(t, tt.claim); !within(after, tt.want) {
				t.Errorf("node %s with file %q waits for %s, want %s", tt.claim.Node, tt.claim.FileID, after, tt.want)
			}
		}
	})
}

// A late message from a dead holder of the same file delays the next claim, and is not mistaken for a living one's.
func TestSameFileRenewedLate(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		r := record{State: held, ID: "a", Opening: make([]byte, 16), Random: "its own", File: "7:1@boot"}
		w.place(r.encode())
		late := func() {
			r.Random = "late"
			w.place(r.encode())
		}
		if _, after := took(t, w.node("a").claim(&paperFile{any: true, begins: late}, r.File)); !within(after, 40*time.Second) {
			t.Errorf("it takes %s", after)
		}
	})
}

// A process with the ID of a node, and a copy of its file that looks like the same one, is refused while the node renews
// its claim, even if the copy is older. Once the node is dead, only an older copy is refused.
func TestCopiedMachine(t *testing.T) {
	for _, tt := range []struct {
		name     string
		instance string
		fileID   string
		newest   bool // of the copy
	}{
		{"copied while it ran", "a", "7:1@boot", true},
		{"an older copy", "a", "7:1@boot", false},
		{"started again", "other", "7:1@boot", true},
		{"its disk was copied", "other", "7:1@other boot", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in(t, func(t *testing.T, w *world) {
				a, file := w.node("a"), &paperFile{}
				l, _ := took(t, a.claim(file, "7:1@boot"))
				stop := keep(t, l)
				time.Sleep(15 * time.Second)
				other := file.twin()
				if file.write(); tt.newest {
					other.write()
				}
				time.Sleep(15 * time.Second) // the commit is in the record
				claim := w.node("a").claim(other, tt.fileID)
				claim.Instance = tt.instance
				began, held := time.Now(), new(HeldError)
				_, err := Take(t.Context(), claim)
				if after := time.Since(began); !errors.As(err, &held) || held.ID != "a" || after > 25*time.Second || !l.Held() {
					t.Errorf("after %s it ends with %v, and the first one holds the shard: %t", after, err, l.Held())
				}
				stop()
				if l, err := Take(t.Context(), claim); (err == nil) != tt.newest || l == nil && !errors.Is(err, ErrFile) {
					t.Errorf("once that is dead, it ends with %v", err)
				}
			})
		})
	}
}

// Of two copies of a file that both contain the record, one gets the shard, and the other is refused forever.
func TestTwoCopies(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		first := &paperFile{}
		l, _ := took(t, w.node("a").claim(first, ""))
		l.end()
		second := first.twin()
		type result struct {
			l   *Lease
			err error
		}
		results := make(chan result)
		for name, f := range map[string]*paperFile{"b": first, "c": second} {
			go func() {
				l, err := Take(t.Context(), w.node(name).claim(f, ""))
				if l != nil {
					_ = l.again(t.Context()) // as Keep does
				}
				results <- result{l, err}
			}()
		}
		x, y := <-results, <-results
		if x.l == nil {
			x, y = y, x
		}
		if x.l == nil || y.l != nil || !errors.Is(y.err, ErrFile) {
			t.Errorf("one gets %v, %v; the other one %v, %v", x.l, x.err, y.l, y.err)
		}
	})
}

// A shard is yielded only by the node that claimed it, with the file that the record names.
func TestYield(t *testing.T) {
	for _, tt := range []struct {
		name     string
		id, file string
		held     bool
	}{
		{"the same", "node", "file", false}, {"another node", "other", "file", true}, {"another file", "node", "copy", true},
		{"an unknown file", "node", "", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := newWorld(1).node("node")
				if err := Yield(t.Context(), n, "shard.0", tt.id, tt.file); err != nil {
					t.Errorf("without a record: %v", err)
				}
				r := record{State: held, ID: "node", File: "file", Opening: make([]byte, 16), Commit: 7, Random: "1"}
				n.w.place(r.encode())
				if err := Yield(t.Context(), n, "shard.0", tt.id, tt.file); err != nil {
					t.Fatal(err)
				}
				if h, err := Look(t.Context(), n, "shard.0"); err != nil || h.Held != tt.held || h.Commit != 7 {
					t.Errorf("%+v, %v", h, err)
				}
			})
		})
	}
}

// Of two copies of a process that holds a shard, one loses it at its next renewal, and is then refused.
func TestCopiedProcess(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		file := &paperFile{}
		first, _ := took(t, w.node("a").claim(file, "7:1@boot"))
		second := newLease(w.node("a").claim(file.twin(), "7:1@boot"), first.own, *first.trust.Load())
		defer keep(t, first)()
		defer keep(t, second)()
		time.Sleep(first.claim.Timing.Renew)
		lost := first
		if first.Held() {
			lost = second
		}
		if lost.Held() || !first.Held() && !second.Held() {
			t.Fatalf("the first one holds the shard: %t, the second one: %t", first.Held(), second.Held())
		}
		var held *HeldError
		if _, err := Take(t.Context(), lost.claim); !errors.As(err, &held) || held.ID != "a" {
			t.Errorf("the other one is told %v", err)
		}
	})
}
