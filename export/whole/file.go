package whole

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

// ErrForeign reports a target that exists and that Ripple did not write.
var ErrForeign = errors.New("exists and was not written by Ripple")

// Kinds of [ErrForeign]: nothing replaces a target of another kind.
var (
	ErrNotFile   = errors.New("it is not a file")
	ErrNotFolder = errors.New("it is not a folder")
)

// HeadSize is the number of bytes at the beginning of a file that tell whose it is.
const HeadSize = 2048

// CheckFile reports why a file must not be replaced: with [ErrForeign] if Ripple
// did not write it. ours is given up to HeadSize bytes.
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

// File has a file written: build is given the path of an empty file, in a folder of its
// own beside the target, and the file takes the target's name when build succeeds. A new
// file has the permissions that the umask leaves, one that replaces another those of
// that. See [disk.Behind] of links.
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

// Stream is [File] for what is written from the beginning to the end. It ends when
// ctx does.
func Stream(ctx context.Context, path string, write func(io.Writer) error) error {
	return File(path, func(temporary string) error { return Fill(ctx, temporary, write) })
}

// Fill writes a file that exists. It ends when ctx does.
func Fill(ctx context.Context, path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	return errors.Join(write(&cancelled{ctx, f}), f.Close())
}

// cancelled is a writer that ends when a context does.
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

// publish syncs a finished file and gives it its name.
func publish(temporary, path string) error {
	if err := errors.Join(likeOld(temporary, path), syncFile(temporary)); err != nil {
		return err
	}
	if err := os.Rename(temporary, path); err != nil {
		return err
	}
	_ = disk.SyncDir(filepath.Dir(path)) // the folder need not be readable
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
