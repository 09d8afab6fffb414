package kv

import (
	"bytes"
	"encoding/binary"
)

// walk checks a tree of pages whose keys must be at least low and less than high; nil: any. It reads the
// leaves if leaves is set; otherwise it assumes that all children of a branch are leaves if the first one is.
func (p *filePages) walk(id uint64, leaves bool, low, high []byte, f func(key, value []byte, bucket bool) error) error {
	kind, count, body, err := p.load(id)
	if err != nil {
		return err
	}
	switch {
	case kind == leafPage && (count > 0 || low == nil):
		return eachLeaf(id, body, count, func(key, value []byte, bucket bool) error {
			if bytes.Compare(key, low) < 0 || high != nil && bytes.Compare(key, high) >= 0 {
				return brokenPage(id, "has keys that belong elsewhere")
			}
			return f(key, value, bucket)
		})
	case kind != branchPage || count == 0:
		return brokenPage(id, "is neither branch nor leaf")
	}
	branches, err := readBranches(id, body, count, high)
	if err != nil {
		return err
	}
	first, _, _, err := p.header(branches[0].child)
	if err != nil {
		return err
	}
	for i, b := range branches[:count] {
		if first == leafPage && !leaves {
			err = p.use(b.child, b.child)
		} else {
			err = p.walk(b.child, leaves, b.low, branches[i+1].low, f)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// A branch is a child of a branch page, with its lowest key.
type branch struct {
	low   []byte
	child uint64
}

// readBranches returns the branches of a page, and one more for the end.
func readBranches(id uint64, body []byte, count uint16, high []byte) ([]branch, error) {
	branches := make([]branch, 0, int(count)+1)
	order := binary.NativeEndian
	for i := range int(count) {
		at := pageHeader + i*16
		if at+16 > len(body) {
			return nil, brokenPage(id, "has too many keys")
		}
		start := uint64(at) + uint64(order.Uint32(body[at:]))
		end := start + uint64(order.Uint32(body[at+4:]))
		if end > uint64(len(body)) {
			return nil, brokenPage(id, "has a key beyond its end")
		}
		b := branch{low: body[start:end:end], child: order.Uint64(body[at+8:])}
		if i > 0 && bytes.Compare(branches[i-1].low, b.low) >= 0 {
			return nil, brokenPage(id, "has keys out of order")
		}
		branches = append(branches, b)
	}
	return append(branches, branch{low: high}), nil
}

// eachLeaf calls f for the keys of a leaf, which must be ascending.
func eachLeaf(id uint64, body []byte, count uint16, f func(key, value []byte, bucket bool) error) error {
	order := binary.NativeEndian
	var before []byte
	for i := range int(count) {
		at := pageHeader + i*16
		if at+16 > len(body) {
			return brokenPage(id, "has too many keys")
		}
		start := uint64(at) + uint64(order.Uint32(body[at+4:]))
		middle := start + uint64(order.Uint32(body[at+8:]))
		end := middle + uint64(order.Uint32(body[at+12:]))
		if end > uint64(len(body)) {
			return brokenPage(id, "has a value beyond its end")
		}
		key := body[start:middle]
		if i > 0 && bytes.Compare(before, key) >= 0 {
			return brokenPage(id, "has keys out of order")
		}
		if err := f(key, body[middle:end], order.Uint32(body[at:])&1 != 0); err != nil {
			return err
		}
		before = key
	}
	return nil
}
