package serve

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// A desk reads the shards in a folder again even if no file was added or removed.
func TestUnchanged(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "shard.bolt")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	look := func(path string) fs.FileInfo {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info
	}
	write("one")
	one, folder := look(file), look(dir)
	if !unchanged(one, look(file)) {
		t.Error("a file has changed by itself")
	}
	write("other")
	if unchanged(one, look(file)) || unchanged(folder, look(dir)) {
		t.Error("what has changed is taken for what was read")
	}
}
