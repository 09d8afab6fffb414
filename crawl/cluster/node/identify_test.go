package node

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// A node keeps its ID while its folder stays. A copy of the folder is another node, and so is a folder whose ID cannot
// be read.
func TestIdentify(t *testing.T) {
	dir := t.TempDir()
	folder, other := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	id := func(folder string) string {
		t.Helper()
		id, err := Identify(folder)
		if err != nil || len(id) < 16 {
			t.Fatalf("%q, %v", id, err)
		}
		return id
	}
	first := id(folder)
	if again := id(folder); again != first {
		t.Errorf("at the next start it is %q, before %q", again, first)
	}
	if err := os.Rename(folder, other); err != nil {
		t.Fatal(err)
	}
	if moved := id(other); moved != first {
		t.Errorf("renamed it is %q, before %q", moved, first)
	}
	if err := os.CopyFS(folder, os.DirFS(other)); err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS == "linux" && id(folder) == first {
		t.Error("a copy has the same ID")
	}
	for _, text := range []string{"", "x", "x y z", "\x00"} {
		if err := os.WriteFile(filepath.Join(other, IDName), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if made := id(other); made == first || made != id(other) {
			t.Errorf("%q: the ID is %q", text, made)
		}
	}
}
