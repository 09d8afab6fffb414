// Package extsort sorts more byte strings than fit in memory: sorted runs go to a temporary file, and are merged as
// they are read.
//
// Errors of the disk are returned unchanged, so that callers can detect a full disk with errors.Is.
package extsort

import (
	"bufio"
	"bytes"
	"container/heap"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"slices"
)

// heldBytes is how much is sorted in memory, and runBuffer how much of each run is read at a time.
const (
	heldBytes = 16 << 20
	runBuffer = 64 << 10
)

// A Sorter sorts byte strings. It belongs to one goroutine.
type Sorter struct {
	dir  string
	most int    // bytes that are held
	text []byte // of the strings that are held
	ends []int  // of each in text
	file *os.File
	size int64   // of file
	runs []int64 // where each run in file ends
}

// New returns a sorter that keeps its temporary file, if it needs one, in dir.
func New(dir string) *Sorter { return &Sorter{dir: dir, most: heldBytes} }

// Close removes the temporary file. It is idempotent.
func (s *Sorter) Close() {
	if s.file != nil {
		_ = s.file.Close()
		_ = os.Remove(s.file.Name())
		s.file = nil
	}
}

// Add adds a string, of which it keeps a copy.
func (s *Sorter) Add(text []byte) error {
	s.text = append(s.text, text...)
	s.ends = append(s.ends, len(s.text))
	if len(s.text)+8*len(s.ends) < s.most {
		return nil
	}
	return s.spill()
}

// sorted returns the strings that are held in order. They are valid until the next is added.
func (s *Sorter) sorted() [][]byte {
	all, from := make([][]byte, len(s.ends)), 0
	for i, end := range s.ends {
		all[i], from = s.text[from:end:end], end
	}
	slices.SortFunc(all, bytes.Compare)
	return all
}

// spill writes what is held as a run: each string after its length.
func (s *Sorter) spill() (err error) {
	if s.file == nil {
		if s.file, err = os.CreateTemp(s.dir, "sort-*"); err != nil {
			return err
		}
	}
	w := bufio.NewWriterSize(s.file, runBuffer)
	for _, text := range s.sorted() {
		head := binary.AppendUvarint(w.AvailableBuffer(), uint64(len(text)))
		s.size += int64(len(head) + len(text))
		_, _ = w.Write(head) // its error is that of Flush
		_, _ = w.Write(text)
	}
	s.text, s.ends = s.text[:0], s.ends[:0]
	s.runs = append(s.runs, s.size)
	return w.Flush()
}

// Each calls f for every string in byte order; those that were added twice come twice. A string is valid while f
// runs. An error of f ends the walk. Nothing may be added any more.
func (s *Sorter) Each(f func(text []byte) error) error {
	if len(s.runs) == 0 {
		for _, text := range s.sorted() {
			if err := f(text); err != nil {
				return err
			}
		}
		return nil
	}
	if err := s.spill(); err != nil {
		return err
	}
	s.text, s.ends = nil, nil
	var all runs
	from := int64(0)
	for _, end := range s.runs {
		r := &run{in: bufio.NewReaderSize(io.NewSectionReader(s.file, from, end-from), runBuffer), left: end - from}
		if more, err := r.next(); err != nil {
			return err
		} else if more {
			all = append(all, r)
		}
		from = end
	}
	for heap.Init(&all); len(all) > 0; {
		if err := f(all[0].text); err != nil {
			return err
		}
		more, err := all[0].next()
		if err != nil {
			return err
		}
		if more {
			heap.Fix(&all, 0)
		} else {
			heap.Pop(&all)
		}
	}
	return nil
}

// A run reads sorted strings from a file.
type run struct {
	in   *bufio.Reader
	left int64 // bytes
	text []byte
}

func (r *run) next() (more bool, err error) {
	if r.left == 0 {
		return false, nil
	}
	n, err := binary.ReadUvarint(r.in)
	if err == nil {
		r.text = slices.Grow(r.text[:0], int(n))[:n]
		_, err = io.ReadFull(r.in, r.text)
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	r.left -= int64(len(binary.AppendUvarint(nil, n))) + int64(n)
	return true, err
}

// runs is a heap of runs by their next strings.
type runs []*run

func (r runs) Len() int           { return len(r) }
func (r runs) Less(i, j int) bool { return bytes.Compare(r[i].text, r[j].text) < 0 }
func (r runs) Swap(i, j int)      { r[i], r[j] = r[j], r[i] }
func (r *runs) Push(x any)        { *r = append(*r, x.(*run)) }

func (r *runs) Pop() any {
	last := (*r)[len(*r)-1]
	*r = (*r)[:len(*r)-1]
	return last
}
