//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package atomicfile_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/export/atomicfile"
)

// Output has the permissions that the umask leaves, or those of the file or folder that it replaces.
func TestUmask(t *testing.T) {
	for _, mask := range []int{0, 0o002, 0o022, 0o027, 0o077} {
		dir := t.TempDir()
		file, folder := filepath.Join(dir, "x.gexf"), filepath.Join(dir, "csv")
		build := func() error {
			old := syscall.Umask(mask)
			defer syscall.Umask(old)
			return errors.Join(
				atomicfile.Stream(t.Context(), file, func(w io.Writer) error { _, err := io.WriteString(w, "x"); return err }),
				atomicfile.Folder(folder, func(dir string) ([]string, map[string]any, error) {
					return []string{"a"}, nil, os.WriteFile(filepath.Join(dir, "a"), nil, 0o666)
				}))
		}
		modes := func(want fs.FileMode, path string) {
			t.Helper()
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
				t.Errorf("umask %03o: %s has %v (%v), want %v", mask, filepath.Base(path), info.Mode(), err, want)
			}
		}
		if err := build(); err != nil {
			t.Fatal(err)
		}
		left := fs.FileMode(0o666 &^ mask)
		modes(left, file)
		modes(0o777&^fs.FileMode(mask), folder)
		modes(left, filepath.Join(folder, "a"))
		modes(left, filepath.Join(folder, atomicfile.Manifest))
		if err := errors.Join(os.Chmod(file, 0o640), os.Chmod(folder, 0o710), build()); err != nil {
			t.Fatal(err)
		}
		modes(0o640, file)
		modes(0o710, folder)
	}
}

// envScratch makes the test binary hold a scratch folder in the named folder.
const envScratch = "WHOLE_SCRATCH_DIR"

// holdScratch creates a scratch folder, prints its name and holds it until the process is killed.
func holdScratch(t *testing.T, dir string) {
	t.Helper()
	path, _, err := atomicfile.Scratch(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(path, "file"), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, _ = os.Stdout.WriteString(path)
	time.Sleep(time.Minute)
}

// scratchHeld starts a process that holds a scratch folder, and returns it with the folder's name.
func scratchHeld(t *testing.T, dir string) (*exec.Cmd, string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestSweep$")
	cmd.Env = append(os.Environ(), envScratch+"="+dir)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	name := make([]byte, 4096)
	n, err := out.Read(name)
	if err != nil {
		t.Fatal(err)
	}
	return cmd, string(name[:n])
}

// Sweep leaves the folders of living processes, and anything that is not a scratch folder. It removes
// what a killed process left.
func TestSweep(t *testing.T) {
	if dir := os.Getenv(envScratch); dir != "" {
		holdScratch(t, dir)
		return
	}
	dir := t.TempDir()
	cmd, theirs := scratchHeld(t, dir)
	mine, remove, err := atomicfile.Scratch(dir)
	if err != nil {
		t.Fatal(err)
	}
	fresh := filepath.Join(dir, ".ripple-new-1") // another process is just creating it
	foreign := []string{".ripple-new-", ".ripple-new-1x", "ripple-new-1", "x.ripple-new-1", ".ripple-old-1"}
	long := time.Now().Add(-24 * time.Hour)
	put(t, filepath.Join(fresh, "file"), "")
	for _, name := range foreign {
		put(t, filepath.Join(dir, name, "precious"), "")
		put(t, filepath.Join(dir, name, ".ripple-lock"), "")
		if err := os.Chtimes(filepath.Join(dir, name), long, long); err != nil {
			t.Fatal(err)
		}
	}
	outside := t.TempDir()
	put(t, filepath.Join(outside, "precious"), "")
	put(t, filepath.Join(outside, ".ripple-lock"), "")
	if err := os.Symlink(outside, filepath.Join(dir, ".ripple-new-2")); err != nil {
		t.Fatal(err)
	}
	require := func(path string, want bool) {
		t.Helper()
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s: %v, want it to be there: %t", path, err, want)
		}
	}
	atomicfile.Sweep(dir)
	require(filepath.Join(theirs, "file"), true)
	require(mine, true)
	require(fresh, true)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	atomicfile.Sweep(dir)
	require(theirs, false)
	require(mine, true)
	remove()
	require(mine, false)
	for _, name := range foreign {
		require(filepath.Join(dir, name, "precious"), true)
	}
	require(filepath.Join(outside, "precious"), true)
}
