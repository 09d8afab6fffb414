package whole

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// ErrForeign reports a target that exists and that Ripple did not write.
var ErrForeign = errors.New("exists and was not written by Ripple")

// HeadSize is the number of bytes at the beginning of a file that tell whose it is.
const HeadSize = 2048

const (
	temporaryMark = ".ripple-new-"
	staleAge      = time.Hour
)

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
		return fmt.Errorf("%s %w: it is not a file", path, ErrForeign)
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

// File has a file written: build is given the path of an empty file beside it,
// which takes its name when build succeeds.
func File(path string, build func(temporary string) error) error {
	removeStale(path)
	f, err := os.CreateTemp(filepath.Dir(path), hidden(path)+"*")
	if err != nil {
		return err
	}
	temporary := f.Name()
	defer os.Remove(temporary) // gone already if all went well
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

func hidden(path string) string { return "." + filepath.Base(path) + temporaryMark }

// removeStale removes what earlier exports left behind when they were killed.
func removeStale(path string) {
	entries, _ := os.ReadDir(filepath.Dir(path))
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), hidden(path)) {
			continue
		}
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > staleAge {
			_ = os.RemoveAll(filepath.Join(filepath.Dir(path), e.Name()))
		}
	}
}

// publish syncs a finished file and gives it its name.
func publish(temporary, path string) error {
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	if err := syncFile(temporary, mode); err != nil {
		return err
	}
	if err := os.Rename(temporary, path); err != nil {
		return err
	}
	syncFolder(filepath.Dir(path))
	return nil
}

func syncFile(path string, mode fs.FileMode) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Chmod(mode), f.Sync(), f.Close())
}

// syncFolder makes names durable, where folders can be synced: some file systems
// refuse, and a folder need not be readable.
func syncFolder(path string) {
	if runtime.GOOS == "windows" {
		return
	}
	if d, err := os.Open(path); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}
