package render

import (
	"os"
	"path/filepath"
	"testing"
)

// Leftover folders are swept; folders that are locked or of other origin are not.
func TestSweep(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	at := func(name string) string { return filepath.Join(temp, name) }
	held, err := newFolder()
	if err != nil {
		t.Fatal(err)
	}
	left, err := newFolder()
	if err != nil {
		t.Fatal(err)
	}
	foreign := at(folderPrefix + "foreign")
	for _, dir := range []string{filepath.Join(left.path, "profile", "Default"), at("ripple-other-1"), at("target"),
		foreign} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{folderPrefix + "file", "target/kept", filepath.Base(left.path) +
		"/profile/Default/History"} {
		if err := os.WriteFile(at(name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(at("target"), at(folderPrefix+"link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(at("target"), filepath.Join(left.path, "link")); err != nil {
		t.Fatal(err)
	}
	if err := left.lock.Close(); err != nil { // like the end of its process
		t.Fatal(err)
	}
	want := map[string]bool{
		held.path: true, left.path: false, foreign: os.Getuid() == 0, at("ripple-other-1"): true,
		at(folderPrefix + "file"): true, at(folderPrefix + "link"): true, at("target/kept"): true,
	}
	if os.Getuid() == 0 {
		if err := os.Chown(foreign, 65534, 65534); err != nil {
			t.Fatal(err)
		}
	}
	sweep()
	for path, stays := range want {
		if _, err := os.Lstat(path); (err == nil) != stays {
			t.Errorf("%s: %v; stays should be %t", path, err, stays)
		}
	}
	if err := held.remove(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(held.path); err == nil {
		t.Error("a folder that was given up is still there")
	}
}
