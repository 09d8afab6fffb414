package disk_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/sumi-ripple/ripple/schema/disk"
)

func TestBehind(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, folder := range []string{"far/away", "near"} {
		if err := os.MkdirAll(at(folder), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(at("far/file"), []byte("x"), 0o666); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{
		"near/file": "../far/file", "near/twice": "file", "near/new": at("far/new"),
		"near/away": at("far/away"), "up": "near/away/../new", "round": "round",
	} {
		if err := os.Symlink(to, at(name)); err != nil {
			t.Skip(err)
		}
	}
	for name, want := range map[string]string{
		"near/file": "far/file", "near/twice": "far/file", "near/new": "far/new", "up": "far/new",
		"far/file": "far/file", "far/none": "far/none", "round": "round",
	} {
		got := disk.Behind(at(name))
		folder, err := filepath.EvalSymlinks(filepath.Dir(got)) // as the system resolves it
		whole, _ := filepath.EvalSymlinks(dir)
		if err != nil || filepath.Join(folder, filepath.Base(got)) != filepath.Join(whole, want) {
			t.Errorf("%s leads to %s (%v), want %s", name, got, err, want)
		}
	}
}
