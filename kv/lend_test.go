package kv

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/schema/disk"
)

// lent returns a store that was opened for reading and lent, and its path.
func lent(t *testing.T) (*Store, string) {
	t.Helper()
	if !disk.Locks {
		t.Skip("there are no such locks here")
	}
	path := filepath.Join(t.TempDir(), "state.bolt")
	s, err := Open(path, Options{})
	if err == nil {
		err = s.Close()
	}
	if err == nil {
		s, err = Open(path, Options{ReadOnly: true})
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if !s.Lend() {
		t.Fatal("a store for reading cannot be lent")
	}
	return s, path
}

// A lent store can be written by others; when reclaimed, it knows whether it was.
func TestLend(t *testing.T) {
	touch := func(tx *Tx) error { return tx.Meta.Put("a", []byte("b")) }
	tests := []struct {
		name      string
		meanwhile func(t *testing.T, path string)
		want      error
	}{
		{"nobody came", func(*testing.T, string) {}, nil},
		{"somebody looked", func(t *testing.T, path string) { write(t, path, nil) }, nil},
		{"somebody wrote", func(t *testing.T, path string) { write(t, path, touch) }, ErrLost},
		{"somebody holds it", func(t *testing.T, path string) {
			s, err := Open(path, Options{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { s.Close() })
		}, ErrLocked},
		{"another file has its name", func(t *testing.T, path string) {
			other, err := Open(path+".new", Options{})
			if err := errors.Join(err, other.Close(), os.Rename(path+".new", path)); err != nil {
				t.Fatal(err)
			}
		}, ErrLost},
		{"it is gone", func(t *testing.T, path string) {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}, ErrLost},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, path := lent(t)
			tt.meanwhile(t, path)
			if err := s.Reclaim(); !errors.Is(err, tt.want) {
				t.Fatalf("Reclaim = %v, want %v", err, tt.want)
			}
			if tt.want != nil {
				return
			}
			if _, err := Open(path, Options{Timeout: 20 * time.Millisecond}); !errors.Is(err, ErrLocked) {
				t.Errorf("a reclaimed store can be written by others: %v", err)
			}
		})
	}
}

// write opens a file for writing, and changes it unless f is nil.
func write(t *testing.T, path string, f func(*Tx) error) {
	t.Helper()
	s, err := Open(path, Options{})
	if err == nil && f != nil {
		err = s.Update(f)
	}
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
}

// A store opened for writing cannot be lent.
func TestLendWriter(t *testing.T) {
	s, err := Open(filepath.Join(t.TempDir(), "state.bolt"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if s.Lend() {
		t.Error("a store that writes gave up its lock")
	}
}
