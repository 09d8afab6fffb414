package kv

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/sumi-ripple/ripple/schema"
)

// Check examines a state file and reports every problem it finds: in its pages, in every record, and between
// records that must agree. The file is locked as for reading. An error means that the check could not be
// completed.
//
// Damage may make Check slow or, in rare cases, end the process; a command should run it in a child process
// with limits on time and memory.
func Check(path string, report func(problem string)) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() { // opening a pipe would block
		return fmt.Errorf("check %s: %w: not a regular file", path, ErrForeign)
	}
	s := newStore(path, true)
	s.whole = true
	err := s.openFile(2 * time.Second)
	defer func() { s.shut(nil, nil) }()
	if errors.Is(err, ErrDamaged) {
		report(err.Error())
		return nil
	}
	if err != nil {
		return fmt.Errorf("check %s: %w", path, err)
	}
	if n := s.filePages.lost(); n != 0 {
		report(fmt.Sprintf("%d pages are neither used nor free", n))
	}
	steps := []func(*checker){(*checker).counters, (*checker).hosts, (*checker).hostNames, (*checker).frontier,
		(*checker).urls, (*checker).forms, (*checker).visits, (*checker).anchors, (*checker).depths, (*checker).others}
	for _, step := range steps {
		if err := s.checkStep(step, report); err != nil {
			return fmt.Errorf("check: %w", err)
		}
	}
	return s.uncut()
}

// checkStep runs one step, which damage may end early.
func (s *Store) checkStep(step func(*checker), report func(string)) error {
	err := guard(func() error {
		b, err := s.db.Begin(false)
		if err != nil {
			return err
		}
		c := &checker{tx: newTx(s, b, false), report: report}
		step(c)
		return b.Rollback()
	})
	err = s.explained(err)
	if err != nil {
		s.abandon = true // the transaction may be open
	}
	if errors.Is(err, ErrDamaged) {
		report(err.Error())
		return nil
	}
	return err
}

// A checker looks for problems in one transaction.
type checker struct {
	tx     *Tx
	report func(string)
}

func (c *checker) problem(format string, args ...any) { c.report(fmt.Sprintf(format, args...)) }

// failed reports whether err is an error, after reporting it as a problem.
func (c *checker) failed(err error) bool {
	if err != nil {
		c.report(err.Error())
	}
	return err != nil
}

// each calls f for every value of a bucket with a correct checksum and a key of the given length; 0: any. It
// reports values that f cannot decode.
func (c *checker) each(b bucket, length int, f func(key []byte, r *reader)) {
	cursor := c.tx.bucket(b).Cursor()
	for key, value := cursor.First(); key != nil; key, value = cursor.Next() {
		body, err := c.tx.s.seal.open(b, key, value)
		if c.failed(err) {
			continue
		}
		if length != 0 && len(key) != length {
			c.problem("%s %x: the key has a wrong length", b, key)
			continue
		}
		r := reader{b: body}
		if f(key, &r); r.bad {
			c.failed(damaged(b, key, "cannot be decoded"))
		}
	}
}

// counters loads the in-memory state, which compares the packed values with the counters.
func (c *checker) counters() {
	c.failed(c.tx.rebuild(0))
	c.each(bMeta, 0, func([]byte, *reader) {})
	c.each(bSeen, 10, func([]byte, *reader) {})
	c.each(bShapes, 10, func([]byte, *reader) {})
	c.each(bDone, 10, func([]byte, *reader) {})
	_, err := c.tx.Depths.Pending()
	c.failed(err)
}

func (c *checker) hosts() {
	next := uint32(1)
	c.each(bHosts, 4, func(key []byte, r *reader) {
		id := binary.BigEndian.Uint32(key)
		if id != next {
			c.problem("host %d follows host %d", id, next-1)
		}
		next = id + 1
		h := decodeHost(r, schema.HostID(id))
		if r.bad {
			return
		}
		if named, found, err := c.tx.Hosts.Lookup(h.Name); !c.failed(err) && (!found || named != h.ID) {
			c.problem("host %d: its name %q leads to host %d", id, h.Name, named)
		}
		if h.Generation == c.tx.s.state.generation {
			c.queues(h)
		} else if h.Generation > c.tx.s.state.generation {
			c.problem("host %d: its queues are of a later generation", id)
		}
		for _, retry := range h.Retries {
			if c.tx.s.HostOf(retry.URL) != h.ID {
				c.problem("host %d: URL %d in retry is not one of its own", id, retry.URL)
			}
		}
	})
}

// queues walks the waiting URLs of a host.
func (c *checker) queues(h *schema.Host) {
	n := 0
	err := c.tx.Frontier.Walk(h, func(_ uint8, id schema.ID) bool {
		n++
		if c.tx.s.HostOf(id) != h.ID {
			c.problem("host %d: URL %d in its queue is not one of its own", h.ID, id)
		}
		return true
	})
	if !c.failed(err) && n != h.Waiting {
		c.problem("host %d: %d URLs wait, %d counted", h.ID, n, h.Waiting)
	}
}

func (c *checker) hostNames() {
	c.each(bHostNames, 0, func(key []byte, r *reader) {
		id := schema.HostID(r.id())
		if r.bad {
			return
		}
		name, err := c.tx.Hosts.Name(id)
		if !c.failed(err) && string(hostKey(name)) != string(key) {
			c.problem("hostnames %q leads to host %d, which is %q", key, id, name)
		}
	})
}

// frontier looks for chunks that belong to no queue.
func (c *checker) frontier() {
	var h *schema.Host
	c.each(bFrontier, 9, func(key []byte, r *reader) {
		id, chunk := schema.HostID(binary.BigEndian.Uint32(key)), binary.BigEndian.Uint32(key[5:])
		if h == nil || h.ID != id {
			var err error
			if h, err = c.tx.Hosts.At(id); c.failed(err) {
				h = nil
				return
			}
		}
		i := slices.IndexFunc(h.Queues, func(q schema.Queue) bool { return q.Priority == key[4] })
		if i < 0 || chunk >= h.Queues[i].Tail {
			c.problem("host %d: chunk %d of priority %d belongs to no queue", id, chunk, key[4])
		}
		r.deltas(nil, chunkSize)
	})
}
