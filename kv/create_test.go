package kv_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/sumi-ripple/ripple/kv"
)

func TestRename(t *testing.T) {
	dir := t.TempDir()
	next, path := filepath.Join(dir, "next"), filepath.Join(dir, "state.db")
	for name, text := range map[string]string{next: "new", path: "old"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := kv.Rename(next, path); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "new" {
		t.Errorf("the file has %q, %v; want %q", got, err, "new")
	}
	if err := kv.Rename(next, path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Rename of no file = %v, want %v", err, fs.ErrNotExist)
	}
}
