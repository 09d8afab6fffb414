package kv_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/sumi-ripple/ripple/kv"
)

// FuzzFile damages a state file in three places, and truncates it. The file is refused or opens; if it opens,
// it can be read or reports damage.
func FuzzFile(f *testing.F) {
	raw := sample(f)
	path := filepath.Join(f.TempDir(), "state.db")
	f.Add(uint32(0), uint64(0), uint32(1<<13), uint64(1), uint32(1<<14), uint64(1<<40), uint32(0))
	f.Add(uint32(16+24), uint64(1<<63), uint32(4096+16), uint64(7), uint32(2*4096+8), uint64(2), uint32(100))
	f.Fuzz(func(t *testing.T, at1 uint32, x1 uint64, at2 uint32, x2 uint64, at3 uint32, x3 uint64, cut uint32) {
		mutant := append([]byte{}, raw...)
		for _, m := range []struct {
			at uint32
			x  uint64
		}{{at1, x1}, {at2, x2}, {at3, x3}} {
			for i := range 8 {
				mutant[(int(m.at)+i)%len(mutant)] ^= byte(m.x >> (8 * i))
			}
		}
		mutant = mutant[:len(mutant)-int(cut)%len(mutant)]
		if err := os.WriteFile(path, mutant, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := kv.Check(path, func(string) {}); err != nil && !refused(err) {
			t.Errorf("check: %v", err)
		}
		s, err := kv.Open(path, kv.Options{})
		if err != nil {
			if !refused(err) {
				t.Errorf("open: %v", err)
			}
			return
		}
		if _, err := readAll(s); err != nil && !refused(err) {
			t.Errorf("read: %v", err)
		}
		if err := s.Close(); err != nil && !errors.Is(err, kv.ErrClosed) {
			t.Errorf("close: %v", err)
		}
	})
}
