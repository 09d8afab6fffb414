package decide_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/cmd/ripple/decide"
)

// TestArchiveFiles: links to files count and links to folders do not, so that a folder that leads to itself has an end.
// What can be read only once is refused.
func TestArchiveFiles(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("on Windows links need a privilege; .ci/run makes them on Linux")
	}
	elsewhere, dir := t.TempDir(), t.TempDir()
	there, sub := filepath.Join(elsewhere, "there"), filepath.Join(dir, "sub")
	err := errors.Join(os.Mkdir(sub, 0o700), os.WriteFile(there, nil, 0o600),
		os.WriteFile(filepath.Join(sub, "a.warc"), nil, 0o600), os.Symlink(there, filepath.Join(dir, "b.warc")),
		os.Symlink(dir, filepath.Join(sub, "up.warc")), os.Symlink("self", filepath.Join(dir, "self")))
	if err != nil {
		t.Fatal(err)
	}
	got, err := decide.ArchiveFiles([]string{dir}, ".warc")
	want := []string{filepath.Join(dir, "b.warc"), filepath.Join(sub, "a.warc")}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
	for name, target := range map[string]string{"gone.warc": "nowhere", "round.warc": "round.warc"} {
		at := filepath.Join(dir, name)
		if err := os.Symlink(target, at); err != nil {
			t.Fatal(err)
		}
		if got, err := decide.ArchiveFiles([]string{dir}, ".warc"); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %q, %v; want an error that names it", name, got, err)
		}
		os.Remove(at)
	}
	if got, err := decide.ArchiveFiles([]string{os.DevNull}, ".warc"); err == nil {
		t.Errorf("%q; want an error", got)
	}
}
