package statefile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/dustin/go-humanize"

	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl/census"
	"github.com/sumi-ripple/ripple/crawl/control"
	"github.com/sumi-ripple/ripple/export/atomicfile"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema/disk"
)

// openCopy opens a copy of a state file that a crawl is writing. Where the system allows it, the
// copy no longer has a name when this returns.
func (s Files) openCopy(ctx context.Context, path string) (*kv.Store, error) {
	copied, remove, err := s.CopyCrawled(ctx, path)
	if err != nil {
		return nil, err
	}
	defer remove()
	store, err := kv.Open(copied, kv.Options{ReadOnly: true})
	if err != nil {
		return nil, fmt.Errorf("open the copy of the state: %w", err)
	}
	return store, nil
}

// CopyCrawled copies a state file that a crawl is writing into a temporary file. The caller calls remove.
func (s Files) CopyCrawled(ctx context.Context, path string) (copied string, remove func(), err error) {
	return temporaryCopy(func(f *os.File) error {
		fit := func(size int64) error { return Fits(filepath.Dir(f.Name()), size) }
		return s.CrawlOf(path).Snapshot(ctx, f, fit)
	})
}

// WorkingCopy returns the name of a copy that may be changed. The caller calls remove.
func (s Files) WorkingCopy(ctx context.Context, state string) (copied string, remove func(), err error) {
	copied, remove, err = s.CopyCrawled(ctx, state)
	if !errors.Is(err, control.ErrNobody) {
		return copied, remove, err
	}
	store, err := OpenQuiet(state)
	if err != nil {
		return "", nil, err
	}
	defer store.Close()
	return temporaryCopy(func(f *os.File) error {
		if err := Fits(filepath.Dir(f.Name()), store.Size()); err != nil {
			return err
		}
		_, err := store.Snapshot(f)
		return err
	})
}

// temporaryCopy returns the name of a temporary file that write has filled. The caller calls remove.
func temporaryCopy(write func(*os.File) error) (path string, remove func(), err error) {
	dir, remove, err := atomicfile.Scratch(os.TempDir())
	if err != nil {
		return "", nil, fmt.Errorf("copy the state: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, "copy.bolt"), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		err = errors.Join(write(f), f.Close())
	}
	if err != nil {
		remove()
		return "", nil, err
	}
	return f.Name(), remove, nil
}

// Fits returns an error if a folder has no room for a copy of size bytes and a fifth more.
func Fits(dir string, size int64) error {
	free, known := disk.Free(dir)
	if need := uint64(size) + uint64(size)/5; known && free < need {
		err := fmt.Errorf("a copy of the state needs %s in %s, which has %s", humanize.Bytes(need), term.Shown(dir),
			humanize.Bytes(free))
		return term.Hint(err, "set TMPDIR to a folder with more room, or stop the crawl first")
	}
	return nil
}

// roomBeside returns an error if no new file of size bytes can be made next to a state file.
func roomBeside(path string, size int64) error {
	if err := MayWriteState(path); err != nil {
		return err
	}
	err := Fits(filepath.Dir(path), size)
	if h := new(term.Hinted); errors.As(err, &h) {
		return term.Hint(h.Unwrap(), "make room there, or move the state to a larger disk")
	}
	return err
}

// Quiet returns a file that no process is writing to: the state file, or a copy of it while it is being crawled. To
// compact a file, it must not be crawled.
func (s Files) Quiet(ctx context.Context, path string, compact bool) (target string, release func(), err error) {
	if err := MustExist(path); err != nil {
		return "", nil, err
	}
	copied := ""
	var live census.Status
	err = s.CrawlOf(path).Get(ctx, "status", &live)
	idle := new(control.Error) // from a process that holds the file without crawling it
	switch {
	case err == nil && compact:
		return "", nil, term.Usage("a crawl writes %s; stop it before --compact: ripple stop --state %s",
			term.Shown(path), term.Shown(path))
	case err == nil, errors.As(err, &idle) && errors.Is(err, control.ErrNobody) && !compact:
		copied, release, err = s.CopyCrawled(ctx, path)
	}
	switch {
	case errors.Is(err, control.ErrNobody): // or it has just ended
		return path, func() {}, nil
	case err != nil:
		return "", nil, err
	}
	return copied, release, nil
}
