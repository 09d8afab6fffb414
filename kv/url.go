package kv

import (
	"errors"
	"fmt"

	"github.com/sumi-ripple/ripple/schema"
)

// A newURL is a URL that the running commit adds.
type newURL struct {
	schema.URL
	hash uint64
}

// Lookup finds a URL by its hash, see [Store.Hash]. A URL of the same hash and
// host is taken to be the same; if the hash alone agrees, its record decides.
func (tx *Tx) Lookup(hash uint64, host schema.HostID, kind schema.URLKind, pathQuery string) (schema.ID, bool, error) {
	p := tx.s.lookup.find(hash)
	collided := false
	for id := p.next(); id != 0; id = p.next() {
		if !collided && tx.s.HostOf(id) == host && tx.s.Kind(id) == kind {
			if rest := p; rest.next() == 0 {
				return id, true, nil
			}
		}
		u, err := tx.URL(id)
		if err != nil {
			return 0, false, err
		}
		if u.Host == host && u.Kind == kind && u.PathQuery == pathQuery {
			return id, true, nil
		}
		collided = true
	}
	return 0, false, nil
}

// AddURL appends a URL under its hash and returns its id, which is one more
// than the last. The caller has looked it up; u.ID is ignored.
func (tx *Tx) AddURL(u schema.URL, hash uint64) (schema.ID, error) {
	s := tx.s
	switch {
	case !tx.writable:
		return 0, ErrReadOnly
	case s.state.urls == 1<<32-1:
		return 0, fmt.Errorf("%w: no more URL ids", ErrFull)
	case u.Host == 0 || uint32(u.Host) > s.state.hosts:
		return 0, fmt.Errorf("%w: host %d", ErrNotFound, u.Host)
	case u.Kind > 7 || uint32(u.Referrer) > s.state.urls:
		return 0, fmt.Errorf("kv: URL of kind %d with referrer %d cannot be stored", u.Kind, u.Referrer)
	}
	s.state.urls++
	u.ID = schema.ID(s.state.urls)
	s.lookup.add(hash, u.ID)
	s.host.set(u.ID, uint32(u.Host))
	s.mark.set(u.ID, uint8(u.Kind)<<5)
	tx.urls = append(tx.urls, newURL{u, hash})
	return u.ID, nil
}

// firstURL returns the id of the first URL that this commit adds.
func (tx *Tx) firstURL() schema.ID {
	return schema.ID(tx.s.state.urls) + 1 - schema.ID(len(tx.urls))
}

// URL returns what is known of a URL since it was first seen.
func (tx *Tx) URL(id schema.ID) (schema.URL, error) {
	if err := tx.known(id); err != nil {
		return schema.URL{}, err
	}
	if first := tx.firstURL(); id >= first {
		return tx.urls[id-first].URL, nil
	}
	if tx.read.ID == id {
		return tx.read, nil
	}
	key := key64(uint64(id))
	r, err := tx.get(bURLs, key)
	if err != nil {
		return schema.URL{}, missing(err, bURLs, key)
	}
	u := decodeURL(&r, id)
	if r.bad {
		return u, damaged(bURLs, key, "cannot be decoded")
	}
	tx.read = u
	return u, nil
}

// missing names the absence of a record that must be there.
func missing(err error, b bucket, key []byte) error {
	if errors.Is(err, ErrNotFound) {
		return damaged(b, key, "is missing")
	}
	return err
}

func encodeURL(w *writer, u *schema.URL) {
	w.byte(byte(u.Kind))
	w.uint(uint64(u.Host))
	w.string(u.PathQuery)
	w.uint(uint64(u.Referrer))
	w.seconds(u.FirstSeen)
	w.uint(uint64(u.FirstRun))
}

func decodeURL(r *reader, id schema.ID) schema.URL {
	return schema.URL{
		ID:        id,
		Kind:      schema.URLKind(r.byte()),
		Host:      schema.HostID(r.id()),
		PathQuery: r.string(),
		Referrer:  r.id(),
		FirstSeen: r.seconds(),
		FirstRun:  schema.RunID(r.id()),
	}
}

// Norm returns the identity of a URL: https://host/path?query.
func (tx *Tx) Norm(id schema.ID) (string, error) {
	u, err := tx.URL(id)
	if err != nil {
		return "", err
	}
	name, err := tx.HostName(u.Host)
	if err != nil {
		return "", err
	}
	return scheme + name + u.PathQuery, nil
}

// EachURL calls f for the URLs from an id on, in order, until it returns false.
// In an update, f must add none.
func (tx *Tx) EachURL(from schema.ID, f func(schema.URL) (bool, error)) error {
	more := true
	next := max(from, 1)
	err := tx.each(bURLs, key64(uint64(next)), func(key []byte, r *reader) (bool, error) {
		if !isKey(key, uint64(next)) {
			return false, damaged(bURLs, key, "does not follow the one before")
		}
		u := decodeURL(r, next)
		next++
		if r.bad {
			return true, nil // reported by each
		}
		var err error
		more, err = f(u)
		return more, err
	})
	if more && err == nil && next < tx.firstURL() {
		return damaged(bURLs, key64(uint64(next)), "is missing")
	}
	for i := 0; i < len(tx.urls) && more && err == nil; i++ {
		if tx.urls[i].ID >= from {
			more, err = f(tx.urls[i].URL)
		}
	}
	return err
}

// flushURLs writes the URLs that were added: their records, and packed in one
// value what is held of them in memory.
func (tx *Tx) flushURLs() error {
	p := packing{tx: tx, bucket: bSeen}
	before := int64(0)
	for i := range tx.urls {
		u := &tx.urls[i]
		w := tx.fields()
		encodeURL(w, &u.URL)
		if err := tx.put(bURLs, key64(uint64(u.ID)), w); err != nil {
			return err
		}
		item, err := p.add(uint64(u.ID))
		if err != nil {
			return err
		}
		if p.fresh() {
			before = 0
		}
		item.fixed(u.hash)
		item.int(int64(u.Host) - before)
		item.byte(tx.s.mark.at(u.ID))
		before = int64(u.Host)
	}
	return p.end()
}
