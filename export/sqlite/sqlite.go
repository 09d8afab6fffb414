package sqlite

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/sumi-ripple/ripple/kv/survey"
)

// ApplicationID is the application id in the header of a database that Ripple
// wrote: "RIPL".
const ApplicationID = 0x5249504c

// ErrForeign reports a target that exists and that Ripple did not write.
var ErrForeign = errors.New("exists and was not written by Ripple")

// Options say how a database is written.
type Options struct {
	Check bool // have SQLite check the database before it takes its name
	Force bool // replace a file that Ripple did not write
}

// Write writes a survey to a database file. The file that has the name is
// replaced whole, or not at all: then the error says why, and nothing is left
// behind. It fails with [ErrForeign] before anything is written.
func Write(ctx context.Context, path string, s *survey.Survey, opts Options) error {
	if err := checkTarget(path, opts.Force); err != nil {
		return err
	}
	removeStale(path)
	temporary, err := reserve(path)
	if err != nil {
		return err
	}
	defer os.Remove(temporary) // gone already if all went well
	if err := build(ctx, temporary, s, opts.Check); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := publish(temporary, path); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// checkTarget refuses to replace what Ripple did not write.
func checkTarget(path string, force bool) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s %w: it is not a file", path, ErrForeign)
	case force:
		return nil
	}
	ours, err := isOurs(path)
	if err != nil {
		return err
	}
	if !ours {
		return fmt.Errorf("%s %w; --force replaces it", path, ErrForeign)
	}
	return nil
}

// isOurs reads the header of a file (https://www.sqlite.org/fileformat2.html).
func isOurs(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	var header [72]byte
	if _, err := io.ReadFull(f, header[:]); err != nil {
		return false, nil // too short to be a database
	}
	return string(header[:16]) == "SQLite format 3\x00" && binary.BigEndian.Uint32(header[68:]) == ApplicationID, nil
}

const (
	temporaryMark = ".ripple-new-"
	staleAge      = time.Hour
)

// reserve makes an empty file beside the target.
func reserve(path string) (string, error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+temporaryMark+"*")
	if err != nil {
		return "", err
	}
	return f.Name(), f.Close()
}

// removeStale removes what earlier exports left behind when they were killed.
func removeStale(path string) {
	entries, _ := os.ReadDir(filepath.Dir(path))
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), "."+filepath.Base(path)+temporaryMark) {
			continue
		}
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > staleAge {
			_ = os.Remove(filepath.Join(filepath.Dir(path), e.Name()))
		}
	}
}

// publish syncs a finished file and gives it its name.
func publish(temporary, path string) error {
	f, err := os.OpenFile(temporary, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	if err := errors.Join(f.Chmod(mode), f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(temporary, path); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(path))
}

// syncFolder makes a name durable, where folders can be synced.
func syncFolder(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(path)
	if err != nil {
		return nil // the file is in place; a folder need not be readable
	}
	defer d.Close()
	_ = d.Sync() // some file systems refuse
	return nil
}
