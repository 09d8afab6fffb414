package answers

import (
	"errors"
	"os"
	"slices"
)

// A file holds bodies. Room that was given back is used again.
type file struct {
	dir  string
	most int64
	f    *os.File
	end  int64
	free []extent // by place, none beside another
}

// An extent is where a body lies.
type extent struct{ at, size int64 }

// piece is the part of an extent from a byte on, of so many at most.
func (x extent) piece(from, most int64) extent {
	from = min(from, x.size)
	return extent{x.at + from, min(most, x.size-from)}
}

var errClosed = errors.New("what pages ask for is not kept any more")

// put writes a body. It reports false if there is no room for it, in the file or on the disk.
func (f *file) put(body []byte) (extent, bool) {
	size := int64(len(body))
	if size == 0 {
		return extent{}, true
	}
	if f.f == nil && f.open() != nil {
		return extent{}, false
	}
	x, ok := f.take(size)
	if !ok {
		return extent{}, false
	}
	if _, err := f.f.WriteAt(body, x.at); err != nil {
		f.release(x)
		return extent{}, false
	}
	return x, true
}

// open makes the file. Where a file that is open can be removed, nothing is left of it
// however the process ends.
func (f *file) open() (err error) {
	if f.most < 0 {
		return errClosed
	}
	f.f, err = os.CreateTemp(f.dir, "ripple-answers-*")
	if err == nil {
		_ = os.Remove(f.f.Name()) // else close does
	}
	return err
}

// take finds room: the first that was given back and is large enough, else at the end.
func (f *file) take(size int64) (extent, bool) {
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
	if f.end+size > f.most {
		return extent{}, false
	}
	x := extent{f.end, size}
	f.end += size
	return x, true
}

// release gives room back.
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

func (f *file) get(x extent) ([]byte, error) {
	if x.size == 0 {
		return nil, nil
	}
	if f.f == nil {
		return nil, errClosed
	}
	body := make([]byte, x.size)
	_, err := f.f.ReadAt(body, x.at)
	return body, err
}

func (f *file) close() error {
	f.most, f.free, f.end = -1, nil, 0
	if f.f == nil {
		return nil
	}
	err := f.f.Close()
	_ = os.Remove(f.f.Name()) // where it could not be removed while it was open
	f.f = nil
	return err
}
