package atomicfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/sumi-ripple/ripple/schema/disk"
)

// ErrForeign reports an existing target that Ripple did not write.
var ErrForeign = errors.New("exists and was not written by Ripple")

// Kinds of [ErrForeign]: a target is never replaced by one of another kind.
var (
	ErrNotFile   = errors.New("it is not a file")
	ErrNotFolder = errors.New("it is not a folder")
)

// HeadSize is how many bytes at the beginning of a file are read to find its writer.
const HeadSize = 2048

// CheckFile returns why a file must not be replaced, or nil. It is [ErrForeign] if Ripple did not write
// the file. ours receives up to HeadSize bytes.
func CheckFile(path string, force bool, ours func(head []byte) bool) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s %w: %w", path, ErrForeign, ErrNotFile)
	case force:
		return nil
	}
	head, err := readHead(path)
	if err != nil {
		return err
	}
	if !ours(head) {
		return fmt.Errorf("%s %w; --force replaces it", path, ErrForeign)
	}
	return nil
}

func readHead(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, HeadSize))
	return head, err
}

// File writes a file. It calls build with the path of an empty file in a new folder next to the target,
// and renames that file to the target when build succeeds. A new file gets the permissions that the
// umask leaves; a file that replaces another keeps the old one's. For links see [disk.Behind].
func File(path string, build func(temporary string) error) error {
	path = disk.Behind(path)
	dir, remove, err := Scratch(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer remove()
	temporary := filepath.Join(dir, "file")
	f, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := build(temporary); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := publish(temporary, path); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// Stream is [File] for sequential output. It stops when ctx is done.
func Stream(ctx context.Context, path string, write func(io.Writer) error) error {
	return File(path, func(temporary string) error { return Fill(ctx, temporary, write) })
}

// Fill writes an existing file. It stops when ctx is done.
func Fill(ctx context.Context, path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	return errors.Join(write(&cancelled{ctx, f}), f.Close())
}

// cancelled is a writer that fails once ctx is done.
type cancelled struct {
	ctx context.Context
	w   io.Writer
}

func (c *cancelled) Write(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.w.Write(p)
}

// publish syncs a finished file and renames it to its target.
func publish(temporary, path string) error {
	if err := likeOld(temporary, path); err != nil {
		return err
	}
	if err := syncFile(temporary); err != nil {
		return err
	}
	if err := os.Rename(temporary, path); err != nil {
		return err
	}
	_ = disk.SyncDir(filepath.Dir(path)) // ignored: the folder may be unreadable
	return nil
}

// likeOld gives a new file or folder the permissions of the one that it replaces.
func likeOld(temporary, path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return nil
	}
	return os.Chmod(temporary, info.Mode().Perm())
}

func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
