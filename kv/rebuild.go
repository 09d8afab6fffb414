package kv

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/dustin/go-humanize"

	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/amount"
)

// memoryOfURL is the most memory used for a URL, in bytes: its slot, when the table has just grown, and the
// data by id.
const memoryOfURL = 40

// rebuild loads the counters and the in-memory state, and checks that they agree. It fails with [ErrMemory]
// if that would need more than most bytes; 0: no limit.
func (tx *Tx) rebuild(most int64) error {
	if err := tx.readMeta(); err != nil {
		return err
	}
	s := tx.s
	if err := enoughFor(int(s.state.urls), most); err != nil {
		return err
	}
	if s.foundAll = !s.readOnly; s.foundAll {
		s.lookup.reserve(int(s.state.urls))
	}
	for _, step := range []func() error{tx.URLs.rebuild, tx.URLs.rebuildShapes,
		tx.Runs.rebuild, tx.Visits.rebuild, tx.Depths.rebuild, tx.checkLast, tx.Part.rebuild} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// enoughFor fails with [ErrMemory] if the given number of URLs needs more than most bytes; 0: no limit.
func enoughFor(urls int, most int64) error {
	if need := int64(urls) * memoryOfURL; most > 0 && need > most {
		return fmt.Errorf("%w: %s need %s, and %s are left for them", ErrMemory,
			amount.Of(urls, "URL", "URLs"), humanize.Bytes(uint64(need)), humanize.Bytes(uint64(most)))
	}
	return nil
}

// Fits fails with [ErrMemory], like [Open], if the in-memory state needs more than most bytes; 0: no limit.
func (s *Store) Fits(most int64) error {
	if err := enoughFor(s.URLs(), most); err != nil {
		return fmt.Errorf("open %s: %w", s.path, err)
	}
	return nil
}

// eachPart calls f for every packed value starting at a key, with the number of its first item, the number of
// items, and the items.
func (tx *base) eachPart(b bucket, from []byte, f func(first, count uint64, items *reader) error) error {
	return tx.each(b, from, func(key []byte, r *reader) (bool, error) {
		first, count := r.uint(), r.uint()
		if r.bad || first == 0 || count == 0 || count > uint64(len(r.b)) || first+count > 1<<32 {
			return false, damaged(b, key, "has a wrong number of items")
		}
		if err := f(first, count, r); err != nil {
			return false, fmt.Errorf("%s %x: %w", b, key, err)
		}
		if len(r.b) != 0 {
			return false, damaged(b, key, "has bytes left over")
		}
		return true, nil
	})
}

func (us *URLs) rebuild() error {
	s := us.tx.s
	n, err := us.eachSeen(func(id schema.ID, hash uint64, host int64, mark, own byte) {
		if s.foundAll {
			s.lookup.add(hash, id)
		}
		*s.known.of(id) = known{host: uint32(host), mark: mark, own: own}
	})
	return agree(err, "URLs seen", n, uint64(s.state.urls))
}

// eachSeen calls f for every URL by id, with the data recorded when it was added, and returns their number.
func (us *URLs) eachSeen(f func(id schema.ID, hash uint64, host int64, mark, own byte)) (n uint64, err error) {
	hosts := int64(us.tx.s.state.hosts)
	return n, us.tx.eachPart(bSeen, nil, func(first, count uint64, r *reader) error {
		if first != n+1 {
			return fmt.Errorf("%w: URL %d follows URL %d", ErrDamaged, first, n)
		}
		host := int64(0)
		for range count {
			n++
			hash := r.fixed()
			host += r.int()
			mark, own := r.byte(), r.byte()
			if r.bad || host < 1 || host > hosts {
				return fmt.Errorf("%w: host of URL %d", ErrDamaged, n)
			}
			f(schema.ID(n), hash, host, mark, own)
		}
		return nil
	})
}

// eachID calls f after reading the id of each item of a packed value whose items have ascending URL ids.
func (tx *base) eachID(first, count uint64, r *reader, f func(id schema.ID)) error {
	id := first
	for range count {
		id += r.uint()
		if r.bad || id > uint64(tx.s.state.urls) {
			return fmt.Errorf("%w: URL %d is not there", ErrDamaged, id)
		}
		f(schema.ID(id))
	}
	return nil
}

func (us *URLs) rebuildShapes() error {
	n := uint64(0)
	err := us.tx.eachPart(bShapes, nil, func(first, count uint64, r *reader) error {
		n++
		return us.tx.eachID(first, count, r, func(id schema.ID) {
			k := us.tx.s.known.of(id)
			k.mark |= r.byte() & shapesMask
			k.own |= r.byte()
		})
	})
	return agree(err, "values of shapes", n, us.tx.s.state.shapes)
}

func (vs *Visits) rebuild() error {
	s := vs.tx.s
	n := uint64(0)
	err := vs.tx.eachPart(bDone, nil, func(first, count uint64, r *reader) error {
		if first != n+1 {
			return fmt.Errorf("%w: visit %d follows visit %d", ErrDamaged, first, n)
		}
		id := int64(0)
		for range count {
			n++
			id += r.int()
			if r.bad || id < 1 || id > int64(s.state.urls) {
				return fmt.Errorf("%w: URL of visit %d", ErrDamaged, n)
			}
			s.visited(schema.ID(id), schema.Seq(n))
		}
		return nil
	})
	return agree(err, "visits done", n, uint64(s.state.visits))
}

func (ds *Depths) rebuild() error {
	s := ds.tx.s
	n := uint64(0)
	err := ds.tx.eachPart(bDepths, key32(s.state.generation), func(first, count uint64, r *reader) error {
		n++
		return ds.tx.eachID(first, count, r, func(id schema.ID) {
			depth, hops := s.Depth(id)
			s.setDepth(id, min(depth, r.byte()), min(hops, r.byte()))
			if r.bool() {
				s.known.of(id).own |= ownPage
			}
		})
	})
	return agree(err, "values of depths", n, s.state.depths)
}

// checkLast checks what is not held in memory: that the number of names is that of the hosts, because a host
// whose name is lost would be added again, and that the last host and run are as counted.
func (tx *base) checkLast() error {
	names := uint64(0)
	err := tx.each(bHostNames, nil, func([]byte, *reader) (bool, error) {
		names++
		return true, nil
	})
	err = agree(err, "names of hosts", names, uint64(tx.s.state.hosts))
	return errors.Join(err, tx.isLast(bHosts, tx.s.state.hosts), tx.isLast(bRuns, tx.s.state.runs))
}

// isLast checks the last 4-byte key of a bucket; 0: the bucket must be empty.
func (tx *base) isLast(b bucket, last uint32) error {
	c := tx.bucket(b).Cursor() // its Last may hang on a damaged file
	key, _ := c.Seek(key32(last))
	if last != 0 {
		if !bytes.Equal(key, key32(last)) {
			return damaged(b, key32(last), "is missing")
		}
		key, _ = c.Next()
	}
	if key != nil {
		return damaged(b, key, "comes after the last")
	}
	return nil
}

// agree returns err, or an error if a count and a recount differ.
func agree(err error, what string, n, counted uint64) error {
	if err == nil && n != counted {
		return fmt.Errorf("%w: %d %s, %d counted", ErrDamaged, n, what, counted)
	}
	return err
}

// isKey reports whether key is the 8-byte key of n.
func isKey(key []byte, n uint64) bool { return len(key) == 8 && binary.BigEndian.Uint64(key) == n }

// idOf returns the URL of an 8-byte key; 0: invalid.
func idOf(key []byte) schema.ID {
	if v := binary.BigEndian.Uint64(key); v < 1<<32 {
		return schema.ID(v)
	}
	return 0
}
