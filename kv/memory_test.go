package kv_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/sumi-ripple/ripple/kv"
)

// A state that needs more memory than allowed is refused before memory is filled, and stays unchanged.
func TestOpenWithLittleMemory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	s := openStore(t, path)
	update(t, s, func(tx *kv.Tx) error {
		for i := range 100 {
			if _, err := addURL(s, tx, "a.test", fmt.Sprintf("/%d", i)); err != nil {
				return err
			}
		}
		return nil
	})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		memory int64
		want   error
	}{{1, kv.ErrMemory}, {3999, kv.ErrMemory}, {4000, nil}, {0, nil}} {
		s, err := kv.Open(path, kv.Options{Memory: tt.memory})
		if !errors.Is(err, tt.want) {
			t.Errorf("with %d bytes: %v, want %v", tt.memory, err, tt.want)
		}
		if err == nil {
			s.Close()
		}
	}
}
