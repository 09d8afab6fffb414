package kv

import "unsafe"

// Sizes of the reads ahead in bytes: small at first, because many walks end soon.
const (
	firstWindow = 64 << 10
	fullWindow  = 8 << 20
)

// A window is the part of a file that was read ahead. bbolt makes the system read only single pages, which is
// many times as slow if they are not in memory.
type window struct {
	start    uintptr // of the mapping
	from, to int64   // in the file
	size     int64
}

// reach reads ahead what follows a value, unless that has been done.
func (w *window) reach(s *Store, value []byte) {
	at := int64(uintptr(unsafe.Pointer(unsafe.SliceData(value))) - w.start)
	if at >= w.from && at < w.to-w.size/2 {
		return
	}
	if at < w.from || at > w.to {
		w.from, w.to, w.size = at, at, firstWindow
	}
	w.size = min(2*w.size, fullWindow)
	w.from = at
	willNeed(s.file, w.to, at+w.size-w.to)
	w.to = at + w.size
}
