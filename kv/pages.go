package kv

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"
	"math/bits"
	"os"
)

// The parts of bbolt's file that are read here, in the machine's byte order. A page begins with its number,
// flags, count and number of further pages. The first two pages are metas; the valid one with the higher
// transaction counts.
const (
	pageHeader  = 16
	metaSize    = 64
	boltMagic   = 0xED0CDAED
	boltVersion = 2

	branchPage   = 0x01
	leafPage     = 0x02
	freelistPage = 0x10
)

// wholeSize is the size up to which a file is always checked completely.
const wholeSize = 32 << 20

// filePages checks the page structure of a file before bbolt maps it. bbolt trusts what it reads: a cycle of
// pages or a wrong count ends the process in a way that cannot be recovered from. Faults and panics, which
// are recoverable, are left to [guard].
type filePages struct {
	file     io.ReaderAt
	size     int64
	pageSize int64
	high     uint64 // number of the first page that does not exist
	root     uint64
	freelist uint64
	txid     uint64
	used     []uint64 // one bit for every page that is referred to
	whole    bool     // check leaves, too
}

// checkPages refuses a file that is not bbolt's, was truncated, or has a damaged structure. In large files it
// reads only the branches and the names of hosts, unless whole is set. The file must be locked.
func checkPages(file *os.File, whole bool) (*filePages, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: not a regular file", ErrForeign)
	}
	p := &filePages{file: file, size: info.Size()}
	if err := p.readMetas(); err != nil {
		return nil, err
	}
	p.whole = whole || p.size <= wholeSize
	p.used = make([]uint64, p.high/64+1)
	if err := p.checkFreelist(); err != nil {
		return nil, err
	}
	return p, p.checkRoot()
}

func (p *filePages) readMetas() error {
	ours := false
	for i := int64(-1); i < 7; i++ {
		at := int64(0)
		if i >= 0 {
			at = 1024 << i // the second page, for every page size
		}
		var m [metaSize]byte
		if _, err := p.file.ReadAt(m[:], at+pageHeader); err != nil {
			continue
		}
		ours = ours || binary.NativeEndian.Uint32(m[:]) == boltMagic
		p.readMeta(m[:], at)
	}
	switch {
	case p.pageSize != 0 && p.high > uint64(p.size/p.pageSize):
		return fmt.Errorf("%w: it was cut: %d bytes of %d", ErrDamaged, p.size, int64(p.high)*p.pageSize)
	case p.pageSize != 0 && p.size%p.pageSize != 0:
		return fmt.Errorf("%w: its size, %d bytes, is not a multiple of its page size, %d: it was cut, or added to",
			ErrDamaged, p.size, p.pageSize)
	case p.pageSize != 0:
		return nil
	case ours:
		return fmt.Errorf("%w: its head cannot be read", ErrDamaged)
	}
	return ErrForeign
}

// readMeta adopts a valid meta that is newer than the last one.
func (p *filePages) readMeta(m []byte, at int64) {
	order := binary.NativeEndian
	sum := fnv.New64a()
	sum.Write(m[:metaSize-8])
	size, txid := int64(order.Uint32(m[8:])), order.Uint64(m[48:])
	valid := order.Uint32(m) == boltMagic && order.Uint32(m[4:]) == boltVersion &&
		order.Uint64(m[56:]) == sum.Sum64() && bits.OnesCount64(uint64(size)) == 1 && size >= 1024 && size <= 1<<16 &&
		(at == 0 || at == size) && order.Uint64(m[40:]) < 1<<44
	if !valid || p.pageSize != 0 && txid <= p.txid {
		return
	}
	p.pageSize, p.txid = size, txid
	p.root, p.freelist, p.high = order.Uint64(m[16:]), order.Uint64(m[32:]), order.Uint64(m[40:])
}

func brokenPage(id uint64, problem string) error {
	return fmt.Errorf("%w: page %d %s", ErrDamaged, id, problem)
}

// header returns the kind of a page, its count, and the number of its last page.
func (p *filePages) header(id uint64) (kind, count uint16, last uint64, err error) {
	if id < 2 || id >= p.high {
		return 0, 0, 0, brokenPage(id, "does not exist")
	}
	var h [pageHeader]byte
	if _, err := p.file.ReadAt(h[:], int64(id)*p.pageSize); err != nil {
		return 0, 0, 0, fmt.Errorf("page %d: %w", id, err)
	}
	order := binary.NativeEndian
	last = id + uint64(order.Uint32(h[12:]))
	if order.Uint64(h[:]) != id || last >= p.high {
		return 0, 0, 0, brokenPage(id, "has a wrong head")
	}
	return order.Uint16(h[8:]), order.Uint16(h[10:]), last, nil
}

// use marks pages as referred to; no page may be referred to twice.
func (p *filePages) use(first, last uint64) error {
	for id := first; id <= last; id++ {
		if id < 2 || id >= p.high {
			return brokenPage(id, "does not exist")
		}
		if p.used[id/64]&(1<<(id%64)) != 0 {
			return brokenPage(id, "is referred to twice")
		}
		p.used[id/64] |= 1 << (id % 64)
	}
	return nil
}

// load marks a page as used and returns its bytes.
func (p *filePages) load(id uint64) (kind, count uint16, body []byte, err error) {
	kind, count, last, err := p.header(id)
	if err != nil {
		return 0, 0, nil, err
	}
	if err := p.use(id, last); err != nil {
		return 0, 0, nil, err
	}
	body = make([]byte, int64(last-id+1)*p.pageSize)
	if _, err := p.file.ReadAt(body, int64(id)*p.pageSize); err != nil {
		return 0, 0, nil, fmt.Errorf("page %d: %w", id, err)
	}
	return kind, count, body, nil
}

func (p *filePages) checkFreelist() error {
	kind, short, body, err := p.load(p.freelist)
	if err != nil {
		return err
	}
	ids, count := body[pageHeader:], uint64(short)
	if short == 0xFFFF {
		count, ids = binary.NativeEndian.Uint64(ids), ids[8:]
	}
	if kind != freelistPage || count > uint64(len(ids)/8) {
		return brokenPage(p.freelist, "is no list of free pages")
	}
	for ; count > 0; count, ids = count-1, ids[8:] {
		id := binary.NativeEndian.Uint64(ids)
		if err := p.use(id, id); err != nil {
			return err
		}
	}
	return nil
}

// checkRoot checks the tree of buckets and the tree of every bucket.
func (p *filePages) checkRoot() error {
	var roots []uint64
	var leaves []bool
	err := p.walk(p.root, true, nil, nil, func(key, value []byte, bucket bool) error {
		if !bucket || len(value) < pageHeader {
			return brokenPage(p.root, "holds something other than buckets")
		}
		root := binary.NativeEndian.Uint64(value)
		if root == 0 {
			return checkInline(value[pageHeader:])
		}
		roots = append(roots, root)
		leaves = append(leaves, p.whole || string(key) == bHostNames.String())
		return nil
	})
	for i, root := range roots {
		if err != nil {
			return err
		}
		err = p.walk(root, leaves[i], nil, nil, func(_, _ []byte, bucket bool) error {
			if bucket {
				return brokenPage(root, "holds a bucket within a bucket")
			}
			return nil
		})
	}
	return err
}

// checkInline checks a bucket that is small enough to be stored in its parent.
func checkInline(page []byte) error {
	if len(page) < pageHeader || binary.NativeEndian.Uint16(page[8:]) != leafPage {
		return fmt.Errorf("%w: a small bucket is no page", ErrDamaged)
	}
	return eachLeaf(0, page, binary.NativeEndian.Uint16(page[10:]), func(_, _ []byte, bucket bool) error {
		if bucket {
			return fmt.Errorf("%w: a small bucket holds a bucket", ErrDamaged)
		}
		return nil
	})
}

// lost returns the number of pages that nothing refers to. It is correct only for a file that was checked
// completely.
func (p *filePages) lost() int {
	n := int(p.high) - 2
	for _, word := range p.used {
		n -= bits.OnesCount64(word)
	}
	return n
}
