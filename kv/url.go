package kv

import (
	"errors"
	"fmt"

	"github.com/sumi-ripple/ripple/schema"
)

// urlBlock is the number of URLs in a block. A commit adds several URLs per page: as single values they would
// cost a third of its time, and a third of the file.
const urlBlock = 32

// A newURL is a URL added by the current commit.
type newURL struct {
	schema.URL
	hash uint64
}

// URLs owns the buckets urls, seen, forms and shapes: what is recorded about a URL when it is first seen. It
// uses Hosts for the host name in an identity.
type URLs struct {
	tx    *base
	hosts *Hosts

	added  []newURL   // by this commit, beginning with id [URLs.first]
	read   schema.URL // the last one read from the file, which never changes
	block  urlReader  // where that was read, in a read-only transaction
	near   nearby
	shaped []schema.ID
	warm   []schema.ID
	loaded uint32 // keeps loads from being optimised away
}

// Lookup finds a URL by its hash, see [Store.Hash]. A URL with the same hash and host is assumed to be the
// same; if only the hash agrees, the record decides.
func (us *URLs) Lookup(
	hash uint64, host schema.HostID, kind schema.URLKind, pathQuery string,
) (schema.ID, bool, error) {
	if err := us.seek(hash); err != nil {
		return 0, false, err
	}
	p := us.tx.s.lookup.find(hash)
	collided := false
	for id := p.next(); id != 0; id = p.next() {
		if !collided && us.tx.s.HostOf(id) == host && us.tx.s.Kind(id) == kind {
			if rest := p; rest.next() == 0 {
				return id, true, nil
			}
		}
		u, err := us.At(id)
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

// Warm prepares look-ups of hashes: it loads the data for all at once, while single look-ups would wait for
// it one by one.
func (us *URLs) Warm(hashes []uint64) {
	if !us.tx.s.foundAll {
		us.tx.fail(us.seek(hashes...))
		return
	}
	ids := us.warm[:0]
	for _, hash := range hashes {
		ids = append(ids, us.tx.s.lookup.first(hash))
	}
	for _, id := range ids {
		us.loaded ^= us.tx.s.known.at(id).host
	}
	us.warm = ids
}

// Add appends a URL under its hash and returns its id, which is one more than the last. The caller must have
// looked it up; u.ID is ignored.
func (us *URLs) Add(u schema.URL, hash uint64) (schema.ID, error) {
	s := us.tx.s
	switch {
	case !us.tx.writable:
		return 0, ErrReadOnly
	case s.state.urls == 1<<32-1:
		return 0, fmt.Errorf("%w: no more URL ids", ErrFull)
	case u.Host == 0 || uint32(u.Host) > s.state.hosts:
		return 0, fmt.Errorf("%w: host %d", ErrNotFound, u.Host)
	case u.Kind > 3 || uint32(u.Referrer) > s.state.urls:
		return 0, fmt.Errorf("kv: URL of kind %d with referrer %d cannot be stored", u.Kind, u.Referrer)
	}
	s.state.urls++
	u.ID = schema.ID(s.state.urls)
	s.lookup.add(hash, u.ID)
	mark := uint8(u.Kind) << 5
	if u.Kind == schema.KindPage && u.PathQuery == "/" {
		mark |= frontMark
	}
	*s.known.of(u.ID) = known{host: uint32(u.Host), mark: mark}
	us.added = append(us.added, newURL{u, hash})
	return u.ID, nil
}

// first returns the id of the first URL added by this commit.
func (us *URLs) first() schema.ID {
	return schema.ID(us.tx.s.state.urls) + 1 - schema.ID(len(us.added))
}

// At returns what was recorded about a URL when it was first seen.
func (us *URLs) At(id schema.ID) (schema.URL, error) {
	if err := us.tx.known(id); err != nil {
		return schema.URL{}, err
	}
	if first := us.first(); id >= first {
		return us.added[id-first].URL, nil
	}
	if us.read.ID == id {
		return us.read, nil
	}
	b, err := us.blockOf(id)
	if err != nil {
		return schema.URL{}, err
	}
	for b.next() {
		if b.u.ID == id {
			if b.u.Host != us.tx.s.HostOf(id) {
				break
			}
			if !us.tx.writable {
				us.block = b
			}
			us.read = b.u
			us.read.PathQuery = string(b.path)
			return us.read, nil
		}
	}
	return schema.URL{}, damaged(bURLs, urlKey(id), "does not have the URL that was seen")
}

// blockOf returns the block of a URL, at the last URL read if that comes before it, so that reading URLs in
// order reads each block once.
func (us *URLs) blockOf(id schema.ID) (urlReader, error) {
	if last := us.block.u.ID; last != 0 && last < id && (last-1)/urlBlock == (id-1)/urlBlock {
		return us.block, nil
	}
	r, err := us.near.get(us.tx, bURLs, uint64(id-1)/urlBlock)
	if err != nil {
		return urlReader{}, missing(err, bURLs, urlKey(id))
	}
	return openURLs(&r, id), nil
}

// missing reports the absence of a required record as damage.
func missing(err error, b bucket, key []byte) error {
	if errors.Is(err, ErrNotFound) {
		return damaged(b, key, "is missing")
	}
	return err
}

// urlKey returns the key of the block of a URL.
func urlKey(id schema.ID) []byte { return key64(uint64(id-1) / urlBlock) }

// Flags of a URL in its block, in addition to its kind: which fields differ from the previous URL, and
// follow.
const (
	urlKind  = 7
	urlHost  = 1 << 3
	urlFrom  = 1 << 4 // referrer
	urlSince = 1 << 5 // first seen
	urlRun   = 1 << 6
)

// encodeURL writes a URL of a block after another one.
func encodeURL(w *writer, before, u *schema.URL) {
	flags, at := byte(u.Kind)&urlKind, len(w.b)
	w.byte(flags)
	if u.Host != before.Host {
		flags |= urlHost
		w.uint(uint64(u.Host))
	}
	if u.Referrer != before.Referrer {
		flags |= urlFrom
		w.uint(uint64(u.Referrer))
	}
	if !u.FirstSeen.Equal(before.FirstSeen) {
		flags |= urlSince
		w.seconds(u.FirstSeen)
	}
	if u.FirstRun != before.FirstRun {
		flags |= urlRun
		w.uint(uint64(u.FirstRun))
	}
	w.b[at] = flags
	w.string(u.PathQuery)
}

// A urlReader reads the consecutive URLs of a block.
type urlReader struct {
	r    *reader
	n    int        // number left
	u    schema.URL // the last one, without its path
	path []byte     // valid as long as the value
}

// openURLs starts reading the block of a URL.
func openURLs(r *reader, id schema.ID) urlReader {
	b := urlReader{r: r, n: int(r.narrow(urlBlock))}
	b.u.ID = (id - 1) / urlBlock * urlBlock
	return b
}

// next reads the next URL and reports whether there was one.
func (b *urlReader) next() bool {
	if b.n == 0 {
		return false
	}
	b.n--
	flags := b.r.byte()
	b.u.ID, b.u.Kind = b.u.ID+1, schema.URLKind(flags&urlKind)
	if flags&urlHost != 0 {
		b.u.Host = schema.HostID(b.r.id())
	}
	if flags&urlFrom != 0 {
		b.u.Referrer = schema.ID(b.r.narrow(uint64(b.u.ID) - 1)) // the referrer is older
	}
	if flags&urlSince != 0 {
		b.u.FirstSeen = b.r.seconds()
	}
	if flags&urlRun != 0 {
		b.u.FirstRun = schema.RunID(b.r.id())
	}
	b.path = b.r.raw(b.r.uint())
	return !b.r.bad
}

// Norm returns the identity of a URL: https://host/path?query.
func (us *URLs) Norm(id schema.ID) (string, error) {
	u, err := us.At(id)
	if err != nil {
		return "", err
	}
	name, err := us.hosts.Name(u.Host)
	if err != nil {
		return "", err
	}
	return scheme + name + u.PathQuery, nil
}

// Each calls f for the URLs starting at an id, in order, until f returns false. In an update, f must not add
// URLs.
func (us *URLs) Each(from schema.ID, f func(schema.URL) (bool, error)) error {
	more := true
	next := (max(from, 1)-1)/urlBlock*urlBlock + 1
	first := next
	fresh := func() *urlBlocks { return &urlBlocks{tx: us.tx, first: first} }
	err := eachPiece(us.tx, bURLs, urlKey(first), fresh, func(blocks *urlBlocks, _ int) (_ bool, err error) {
		for i := 0; i < len(blocks.all) && more && err == nil; i++ {
			u := blocks.all[i]
			if u.ID != next {
				return false, damaged(bURLs, urlKey(u.ID), "does not follow the one before")
			}
			if next++; u.ID < from {
				continue
			}
			us.read = u // f is likely to look it up
			more, err = f(u)
		}
		return more, err
	})
	if more && err == nil && next < us.first() {
		return damaged(bURLs, urlKey(next), "is missing")
	}
	for i := 0; i < len(us.added) && more && err == nil; i++ {
		if us.added[i].ID >= from {
			more, err = f(us.added[i].URL)
		}
	}
	return err
}

// urlBlocks are the URLs of blocks.
type urlBlocks struct {
	tx    *base
	first schema.ID // of the walk
	all   []schema.URL
	paths []byte // of the block that is being read
}

func (p *urlBlocks) reset() { p.all = p.all[:0] }

func (p *urlBlocks) add(at int, key []byte, r *reader) error {
	id := p.first + schema.ID(at)*urlBlock
	if !isKey(key, uint64(id)/urlBlock) {
		return damaged(bURLs, key, "does not follow the one before")
	}
	block, ends := len(p.all), [urlBlock]int{}
	p.paths = p.paths[:0]
	for b := openURLs(r, id); b.next(); {
		if b.u.Host == 0 || b.u.Host != p.tx.s.HostOf(b.u.ID) {
			return damaged(bURLs, key, "does not have the URLs that were seen")
		}
		p.paths = append(p.paths, b.path...)
		ends[len(p.all)-block] = len(p.paths)
		p.all = append(p.all, b.u)
	}
	begin, paths := 0, string(p.paths) // one allocation for all
	for i := range p.all[block:] {
		p.all[block+i].PathQuery = paths[begin:ends[i]]
		begin = ends[i]
	}
	return nil
}

// flush writes the added URLs: their records, and in one packed value the data held in memory.
func (us *URLs) flush() error {
	p := packing{tx: us.tx, bucket: bSeen}
	before := int64(0)
	for i := range us.added {
		u := &us.added[i]
		item, err := p.add(uint64(u.ID))
		if err != nil {
			return err
		}
		if p.fresh() {
			before = 0
		}
		item.fixed(u.hash)
		item.int(int64(u.Host) - before)
		k := us.tx.s.known.at(u.ID)
		item.byte(k.mark)
		item.byte(k.own & shapesMask)
		before = int64(u.Host)
	}
	if err := p.end(); err != nil {
		return err
	}
	for rest := us.added; len(rest) > 0; {
		n := min(len(rest), urlBlock-int(rest[0].ID-1)%urlBlock)
		if err := us.put(rest[:n]); err != nil {
			return err
		}
		rest = rest[n:]
	}
	return nil
}

// put appends URLs to those of their block.
func (us *URLs) put(urls []newURL) error {
	key := urlKey(urls[0].ID)
	first := (urls[0].ID-1)/urlBlock*urlBlock + 1
	w := us.tx.fields()
	w.number(int(urls[0].ID-first) + len(urls))
	last := schema.URL{}
	if first < urls[0].ID {
		r, err := us.tx.get(bURLs, key)
		if err != nil {
			return missing(err, bURLs, key)
		}
		b := openURLs(&r, first)
		old := r.b
		for b.next() {
		}
		if r.bad || b.u.ID+1 != urls[0].ID {
			return damaged(bURLs, key, "does not have all its URLs")
		}
		w.raw(old[:len(old)-len(r.b)])
		last = b.u
	}
	for i := range urls {
		encodeURL(w, &last, &urls[i].URL)
		last = urls[i].URL
	}
	return us.tx.put(bURLs, key, w)
}
