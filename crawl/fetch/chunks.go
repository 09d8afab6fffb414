package fetch

import (
	"io"
	"slices"
	"sync"
)

const (
	chunkBytes = 8 << 10 // memory that a body occupies before it arrives
	keptChunks = 32      // chunks of a body that are reused; those of large bodies would stay unused
)

// chunks collect bytes of unknown total size without copying them as they grow.
type chunks struct {
	pool *sync.Pool // of *[chunkBytes]byte
	list []*[chunkBytes]byte
	size int64
}

// maxEmptyReads is the limit for a reader that returns neither bytes nor an error.
const maxEmptyReads = 100

// fill reads until there are upTo bytes, or until r returns an error.
func (c *chunks) fill(r io.Reader, upTo int64) error {
	for empty := 0; c.size < upTo; {
		at := c.size % chunkBytes
		if c.size == int64(len(c.list))*chunkBytes {
			c.grow()
		}
		room := c.list[len(c.list)-1][at:]
		n, err := r.Read(room[:min(int64(len(room)), upTo-c.size)])
		c.size += int64(n)
		if err != nil {
			return err
		}
		if n > 0 {
			empty = 0
		} else if empty++; empty == maxEmptyReads {
			return io.ErrNoProgress
		}
	}
	return nil
}

func (c *chunks) grow() {
	chunk, ok := c.pool.Get().(*[chunkBytes]byte)
	if !ok {
		chunk = new([chunkBytes]byte)
	}
	c.list = append(c.list, chunk)
}

// from returns some of the bytes starting at a position, valid until release; empty: there are no more.
func (c *chunks) from(at int64) []byte {
	if at >= c.size {
		return nil
	}
	i := at / chunkBytes
	return c.list[i][at%chunkBytes : min(c.size-i*chunkBytes, chunkBytes)]
}

// moveTo appends all bytes to out, and releases the chunks as it goes.
func (c *chunks) moveTo(out []byte) []byte {
	out = grow(out, int64(len(out))+c.size)
	for i := range c.list {
		out = append(out, c.from(int64(i)*chunkBytes)...)
		c.drop(i)
	}
	c.list, c.size = nil, 0
	return out
}

func (c *chunks) release() {
	for i := range c.list {
		c.drop(i)
	}
	c.list, c.size = nil, 0
}

func (c *chunks) drop(i int) {
	if i < keptChunks {
		c.pool.Put(c.list[i])
	}
	c.list[i] = nil
}

// appendFrom reads until out has upTo bytes, or until r returns an error.
func appendFrom(out []byte, r io.Reader, upTo int64) ([]byte, error) {
	for empty := 0; int64(len(out)) < upTo; {
		if len(out) == cap(out) {
			out = grow(out, min(max(2*int64(cap(out)), chunkBytes), upTo))
		}
		room := min(int64(cap(out)), upTo)
		n, err := r.Read(out[len(out):room])
		out = out[:len(out)+n]
		if err != nil {
			return out, err
		}
		if n > 0 {
			empty = 0
		} else if empty++; empty == maxEmptyReads {
			return out, io.ErrNoProgress
		}
	}
	return out, nil
}

// grow returns out with a capacity of at least size bytes.
func grow(out []byte, size int64) []byte {
	return slices.Grow(out, max(0, int(size)-len(out)))
}
