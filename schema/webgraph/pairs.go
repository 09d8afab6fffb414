package webgraph

import (
	"bufio"
	"container/heap"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

// heldPairs is the number of pairs held in memory.
const heldPairs = 4 << 20

// pairs sorts numbers and drops what is there twice. Beyond the number that memory may hold, sorted runs are written
// to files in dir.
type pairs struct {
	dir  string
	most int // that are held
	held []uint64
	runs []*os.File
}

func (p *pairs) add(v uint64) error {
	if len(p.held) == p.most {
		p.sort()
		if len(p.held) > p.most/2 {
			if err := p.spill(); err != nil {
				return err
			}
		}
	}
	p.held = append(p.held, v)
	return nil
}

func (p *pairs) sort() {
	slices.Sort(p.held)
	p.held = slices.Compact(p.held)
}

// spill writes the sorted numbers to a file of their own.
func (p *pairs) spill() error {
	f, err := os.CreateTemp(p.dir, "pairs-*")
	if err != nil {
		return err
	}
	p.runs = append(p.runs, f)
	w := bufio.NewWriterSize(f, 1<<20)
	for _, v := range p.held {
		if _, err := w.Write(binary.LittleEndian.AppendUint64(w.AvailableBuffer(), v)); err != nil {
			return err
		}
	}
	p.held = p.held[:0]
	if err := w.Flush(); err != nil {
		return fmt.Errorf("write the links found: %w", err)
	}
	_, err = f.Seek(0, io.SeekStart)
	return err
}

// close closes the files.
func (p *pairs) close() {
	for _, f := range p.runs {
		_ = f.Close()
	}
	p.held = nil
}

// merged returns all numbers in order, each once. Nothing may be added any more.
func (p *pairs) merged() (*merged, error) {
	p.sort()
	m := &merged{held: p.held}
	for _, f := range p.runs {
		r := &run{r: bufio.NewReaderSize(f, 64<<10)}
		if more, err := r.next(); err != nil {
			return nil, err
		} else if more {
			m.runs = append(m.runs, r)
		}
	}
	heap.Init(&m.runs)
	return m, nil
}

// A merged is the union of sorted numbers.
type merged struct {
	held []uint64
	runs runs
	last uint64
	any  bool
}

// next returns the next number.
func (m *merged) next() (v uint64, ok bool, err error) {
	for {
		switch {
		case len(m.held) > 0 && (len(m.runs) == 0 || m.held[0] <= m.runs[0].value):
			v, m.held = m.held[0], m.held[1:]
		case len(m.runs) > 0:
			v = m.runs[0].value
			more, err := m.runs[0].next()
			if err != nil {
				return 0, false, err
			}
			if more {
				heap.Fix(&m.runs, 0)
			} else {
				heap.Pop(&m.runs)
			}
		default:
			return 0, false, nil
		}
		if !m.any || v != m.last {
			m.last, m.any = v, true
			return v, true, nil
		}
	}
}

// A run reads sorted numbers from a file.
type run struct {
	r     *bufio.Reader
	value uint64
}

func (r *run) next() (bool, error) {
	var b [8]byte
	if _, err := io.ReadFull(r.r, b[:]); errors.Is(err, io.EOF) {
		return false, nil
	} else if err != nil {
		return false, fmt.Errorf("read the links found: %w", err)
	}
	r.value = binary.LittleEndian.Uint64(b[:])
	return true, nil
}

// runs is a heap of runs by their next numbers.
type runs []*run

func (r runs) Len() int           { return len(r) }
func (r runs) Less(i, j int) bool { return r[i].value < r[j].value }
func (r runs) Swap(i, j int)      { r[i], r[j] = r[j], r[i] }
func (r *runs) Push(x any)        { *r = append(*r, x.(*run)) }

func (r *runs) Pop() any {
	last := (*r)[len(*r)-1]
	*r = (*r)[:len(*r)-1]
	return last
}
