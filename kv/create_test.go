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

// A symbolic link to a missing file is kept, and leads to the new file.
func TestCreateBehindLink(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "disk", "state.db"), filepath.Join(dir, "state.db")
	err := errors.Join(os.Mkdir(filepath.Dir(file), 0o755), os.Symlink("link", link),
		os.Symlink(filepath.Join("disk", "state.db"), filepath.Join(dir, "link")))
	if err != nil {
		t.Skip(err)
	}
	s := openStore(t, link)
	update(t, s, idle)
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is %v, %v", info, err)
	}
	entries, err := os.ReadDir(filepath.Dir(file))
	if err != nil || len(entries) != 1 || entries[0].Name() != "state.db" {
		t.Errorf("behind the link: %v, %v; want state.db alone", entries, err)
	}
	loop := filepath.Join(dir, "loop")
	if err := os.Symlink("loop", loop); err != nil {
		t.Fatal(err)
	}
	if _, err := kv.Open(loop, kv.Options{}); err == nil {
		t.Error("a link that leads nowhere was opened")
	}
}
