package disk

import (
	"errors"
	"io/fs"
	"path/filepath"
	"runtime"
	"testing"
)

func TestSyncDir(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("folders are not synced here")
	}
	dir := t.TempDir()
	if err := SyncDir(dir); err != nil {
		t.Error(err)
	}
	if err := SyncDir(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("SyncDir = %v, want %v", err, fs.ErrNotExist)
	}
}
