package config

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// A secret that others can read is refused.
func TestPrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no modes here")
	}
	path := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for mode, want := range map[os.FileMode]bool{0o600: true, 0o400: true, 0o644: false, 0o640: false, 0o604: false} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if err := private(path); (err == nil) != want {
			t.Errorf("mode %o: %v", mode, err)
		}
	}
}
