package lease

import (
	"os"
	"path/filepath"
	"testing"
)

// A file has the same ID under all its paths, and a copy has another one.
func TestFileID(t *testing.T) {
	dir := t.TempDir()
	path, link, other := filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "c")
	for _, p := range []string{path, other} {
		if err := os.WriteFile(p, []byte("same"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	a, err := FileID(path)
	if err != nil || a == "" {
		t.Fatalf("FileID = %q, %v", a, err)
	}
	if b, err := FileID(link); err != nil || b != a {
		t.Errorf("by a link it is %q, %v; want %q", b, err, a)
	}
	if c, err := FileID(other); err != nil || c == a {
		t.Errorf("a copy is %q, %v, too", c, err)
	}
	if _, err := FileID(path + "x"); err == nil {
		t.Error("a file that is not there has a name")
	}
}
