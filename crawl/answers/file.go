package answers

import (
	"errors"
	"os"
	"slices"
)

// A file holds the bodies of pages. Released space is reused.
type file struct {
	dir    string
	f      *os.File
	end    int64
	free   []extent // by position; no two are adjacent
	closed bool
}

// An extent is the position of a body.
type extent struct{ at, size int64 }

// piece returns at most most bytes of an extent, starting at byte from.
func (x extent) piece(from, most int64) extent {
	from = min(from, x.size)
	return extent{x.at + from, min(most, x.size-from)}
}

var errClosed = errors.New("what pages ask for is not kept any more")

// put writes a body, after which the file has at most most bytes. It returns false if there is no room for it in the
// file or on the disk.
func (f *file) put(body []byte, most int64) (extent, bool) {
	size := int64(len(body))
	if size == 0 {
		return extent{}, true
	}
	if f.f == nil && f.open() != nil {
		return extent{}, false
	}
	x, ok := f.take(size, most)
	if !ok {
		return extent{}, false
	}
	if _, err := f.f.WriteAt(body, x.at); err != nil {
		f.release(x)
		return extent{}, false
	}
	return x, true
}

// open creates the file. On systems where an open file can be removed, nothing remains of it however the
// process ends.
func (f *file) open() (err error) {
	if f.closed {
		return errClosed
	}
	f.f, err = temporary(f.dir)
	return err
}

func temporary(dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, "ripple-answers-*")
	if err == nil {
		_ = os.Remove(f.Name()) // otherwise it is removed when it is closed
	}
	return f, err
}

// take finds space: the first released extent that is large enough, or the end of the file.
func (f *file) take(size, most int64) (extent, bool) {
	for i, x := range f.free {
		if x.size < size {
			continue
		}
		if x.size == size {
			f.free = slices.Delete(f.free, i, i+1)
		} else {
			f.free[i] = extent{x.at + size, x.size - size}
		}
		return extent{x.at, size}, true
	}
	if f.end+size > most {
		return extent{}, false
	}
	x := extent{f.end, size}
	f.end += size
	return x, true
}

// release returns space.
func (f *file) release(x extent) {
	if x.size == 0 || f.f == nil {
		return
	}
	i, _ := slices.BinarySearchFunc(f.free, x.at, func(a extent, at int64) int { return int(a.at - at) })
	f.free = slices.Insert(f.free, i, x)
	if i+1 < len(f.free) && f.free[i].at+f.free[i].size == f.free[i+1].at {
		f.free[i].size += f.free[i+1].size
		f.free = slices.Delete(f.free, i+1, i+2)
	}
	if i > 0 && f.free[i-1].at+f.free[i-1].size == f.free[i].at {
		f.free[i-1].size += f.free[i].size
		f.free = slices.Delete(f.free, i, i+1)
	}
	if last := len(f.free) - 1; f.free[last].at+f.free[last].size == f.end {
		f.end = f.free[last].at
		f.free = f.free[:last]
	}
}

// read reads a body from a file; nil: it is closed.
func read(f *os.File, x extent) ([]byte, error) {
	if x.size == 0 {
		return nil, nil
	}
	if f == nil {
		return nil, errClosed
	}
	body := make([]byte, x.size)
	_, err := f.ReadAt(body, x.at)
	return body, err
}

func (f *file) close() error {
	f.closed, f.free, f.end = true, nil, 0
	if f.f == nil {
		return nil
	}
	err := f.f.Close()
	_ = os.Remove(f.f.Name()) // if it could not be removed while it was open
	f.f = nil
	return err
}
