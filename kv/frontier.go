package kv

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/sumi-ripple/ripple/schema"
)

// chunkSize is the number of URLs in a chunk of a queue.
const chunkSize = 64

const chunkKeySize = 9

// purgeCount is the most consumed chunks of a queue that one call deletes.
const purgeCount = 256

// Frontier owns the bucket frontier: the chunks of the queues. The ends of the queues are in the records of
// their hosts.
type Frontier struct {
	tx    *base
	hosts *Hosts
	last  chunk // last chunk read
}

// Push appends a URL to its host's queue of a priority; 0 is the best. It calls [Hosts.Put] for the host.
func (fr *Frontier) Push(h *schema.Host, priority uint8, id schema.ID) error {
	if err := fr.tx.change(); err != nil {
		return err
	}
	if fr.tx.s.HostOf(id) != h.ID {
		return fmt.Errorf("kv: URL %d does not belong to host %d", id, h.ID)
	}
	if h.Generation != fr.tx.s.state.generation {
		if err := fr.Reset(h); err != nil {
			return err
		}
	}
	q := queueOf(h, priority)
	if q.Tail == 1<<32-1 {
		return fmt.Errorf("%w: no more chunks for host %d", ErrFull, h.ID)
	}
	q.Open = append(q.Open, id)
	h.Waiting++
	fr.hosts.Put(h)
	if len(q.Open) < chunkSize {
		return nil
	}
	w := fr.tx.fields()
	w.deltas(q.Open)
	fr.last.ids = fr.last.ids[:0] // it may have the same number
	err := fr.tx.put(bFrontier, chunkKey(h.ID, priority, q.Tail), w)
	q.Tail++
	q.Open = q.Open[:0]
	return err
}

// queueOf returns a host's queue of a priority, which it adds if necessary.
func queueOf(h *schema.Host, priority uint8) *schema.Queue {
	i, found := slices.BinarySearchFunc(h.Queues, priority, func(q schema.Queue, p uint8) int {
		return int(q.Priority) - int(p)
	})
	if !found {
		h.Queues = slices.Insert(h.Queues, i, schema.Queue{Priority: priority})
	}
	return &h.Queues[i]
}

func chunkKey(host schema.HostID, priority uint8, chunk uint32) []byte {
	key := binary.BigEndian.AppendUint32(make([]byte, 0, chunkKeySize), uint32(host))
	return binary.BigEndian.AppendUint32(append(key, priority), chunk)
}

// A chunk holds the URLs of a chunk that was read, and its key.
type chunk struct {
	key [chunkKeySize]byte
	ids []schema.ID
}

// chunk returns the URLs of a chunk, valid until the next call.
func (fr *Frontier) chunk(host schema.HostID, priority uint8, n uint32) ([]schema.ID, error) {
	key := chunkKey(host, priority, n)
	if c := &fr.last; len(c.ids) > 0 && c.key == [chunkKeySize]byte(key) {
		return c.ids, nil
	}
	fr.last.ids = fr.last.ids[:0]
	r, err := fr.tx.get(bFrontier, key)
	if err != nil {
		return nil, missing(err, bFrontier, key)
	}
	ids := r.deltas(fr.last.ids, chunkSize)
	if r.bad || !fr.tx.knowsAll(ids) {
		return nil, damaged(bFrontier, key, "cannot be decoded, or has a URL that is not there")
	}
	fr.last = chunk{[chunkKeySize]byte(key), ids}
	return ids, nil
}

// Walk calls f for the waiting URLs of a host, the best priority first and each queue in order, until f
// returns false. f must not change the queues, nor call Walk or Trim.
func (fr *Frontier) Walk(h *schema.Host, f func(priority uint8, id schema.ID) bool) error {
	if h.Generation != fr.tx.s.state.generation {
		return nil
	}
	for _, q := range h.Queues {
		for n, pos := q.Head, q.Pos; n < q.Tail; n, pos = n+1, 0 {
			ids, err := fr.chunk(h.ID, q.Priority, n)
			if err != nil {
				return err
			}
			if !each(ids[pos:], q.Priority, f) {
				return nil
			}
		}
		if !fr.tx.knowsAll(q.Open) {
			return damaged(bHosts, key32(uint32(h.ID)), "has a URL in line that is not there")
		}
		if !each(q.Open, q.Priority, f) {
			return nil
		}
	}
	return nil
}

func each(ids []schema.ID, priority uint8, f func(uint8, schema.ID) bool) bool {
	for _, id := range ids {
		if !f(priority, id) {
			return false
		}
	}
	return true
}

// Trim moves the head of every queue of a host past settled URLs, up to the first that is not settled, and
// deletes consumed chunks. settled must not call Walk or Trim. If the host has changed, Trim calls
// [Hosts.Put].
func (fr *Frontier) Trim(h *schema.Host, settled func(schema.ID) bool) error {
	if err := fr.tx.change(); err != nil {
		return err
	}
	if h.Generation != fr.tx.s.state.generation {
		return fr.Reset(h)
	}
	for i := range h.Queues {
		if err := fr.trim(h, &h.Queues[i], settled); err != nil {
			return err
		}
	}
	h.Queues = slices.DeleteFunc(h.Queues, unused)
	return nil
}

// unused reports whether a queue is empty and has no chunks in the file.
func unused(q schema.Queue) bool { return q.Tail == 0 && len(q.Open) == 0 }

func (fr *Frontier) trim(h *schema.Host, q *schema.Queue, settled func(schema.ID) bool) error {
	head, pos, open := q.Head, q.Pos, len(q.Open)
	passed, err := fr.pass(h.ID, q, settled)
	if err != nil {
		return err
	}
	h.Waiting -= passed
	if q.Head > head || q.Head == q.Tail && q.Tail > 0 {
		if err := fr.purge(h, q); err != nil {
			return err
		}
	}
	if q.Head != head || q.Pos != pos || len(q.Open) != open {
		fr.hosts.Put(h)
	}
	return nil
}

// pass moves the head of a queue past its settled URLs and returns their number.
func (fr *Frontier) pass(host schema.HostID, q *schema.Queue, settled func(schema.ID) bool) (int, error) {
	passed := 0
	for q.Head < q.Tail {
		ids, err := fr.chunk(host, q.Priority, q.Head)
		if err != nil {
			return passed, err
		}
		n := prefix(ids[q.Pos:], settled)
		passed += n
		if int(q.Pos)+n < chunkSize {
			q.Pos += uint8(n)
			return passed, nil
		}
		q.Head, q.Pos = q.Head+1, 0
	}
	n := prefix(q.Open, settled)
	q.Open = slices.Delete(q.Open, 0, n)
	return passed + n, nil
}

// prefix returns the length of the longest settled prefix.
func prefix(ids []schema.ID, settled func(schema.ID) bool) int {
	for i, id := range ids {
		if !settled(id) {
			return i
		}
	}
	return len(ids)
}

// Reset empties the queues of a host and moves them to the current generation. It deletes some of their
// chunks; [Frontier.Trim] deletes the rest. It calls [Hosts.Put] for the host.
func (fr *Frontier) Reset(h *schema.Host) error {
	if err := fr.tx.change(); err != nil {
		return err
	}
	for i := range h.Queues {
		q := &h.Queues[i]
		q.Head, q.Pos, q.Open = q.Tail, 0, nil
		if err := fr.purge(h, q); err != nil {
			return err
		}
	}
	h.Queues = slices.DeleteFunc(h.Queues, unused)
	h.Generation, h.Waiting = fr.tx.s.state.generation, 0
	fr.hosts.Put(h)
	return nil
}

// purge deletes chunks before the head of a queue. When none are left, chunk numbers restart at 0.
func (fr *Frontier) purge(h *schema.Host, q *schema.Queue) error {
	var used [][]byte
	end := chunkKey(h.ID, q.Priority, q.Head)
	c := fr.tx.bucket(bFrontier).Cursor()
	for key, _ := c.Seek(chunkKey(h.ID, q.Priority, 0)); key != nil && len(used) <= purgeCount; key, _ = c.Next() {
		if string(key) >= string(end) {
			break
		}
		used = append(used, slices.Clone(key))
	}
	for _, key := range used[:min(len(used), purgeCount)] {
		if err := fr.tx.delete(bFrontier, key); err != nil {
			return err
		}
	}
	if len(used) <= purgeCount && q.Head == q.Tail && q.Tail > 0 {
		q.Head, q.Tail = 0, 0
		fr.hosts.Put(h)
	}
	return nil
}
