// Package answers keeps what pages request while they are rendered: for every resource the first answer of a run.
// All pages thus see the same scripts, and no server gets the same request twice.
//
// The browser gets its answers only from here. A URL that may not be requested has a refusal as its answer,
// which is kept like any other. The bodies of answers, and of pages waiting to be rendered, are in one
// temporary file; the rest is in memory.
package answers

import (
	"encoding/json"
	"math"
	"net/http"
	"strings"
	"sync"

	"github.com/zeebo/xxh3"

	"github.com/sumi-ripple/ripple/crawl/render"
)

// MaxBytes is the limit on disk for the bodies of a run of one state file.
const MaxBytes = 1_000_000_000

// Memory is limited, too: the header of an answer, in bytes of JSON, as in letters between shards; the number
// of answers; and the bytes of all URLs and headers.
const (
	maxHeader  = 64 << 10
	maxEntries = 100_000
	maxKept    = 128 << 20
)

// Crowded is the refusal of an answer that did not fit.
const Crowded = "too much was asked for while pages were rendered"

// A Cache holds the answers of a run. Its methods are safe for concurrent use.
type Cache struct {
	mu      sync.Mutex
	file    file
	entries map[render.Resource]entry
	kept    int // bytes of URLs and headers
}

type entry struct {
	status  int
	header  http.Header
	body    extent
	sum     uint64 // XXH3 of the body
	refused string
}

// New returns an empty cache whose bodies take at most the given number of bytes, in a file in dir, or in the
// folder for temporary files if dir is "". The file is created when the first body is stored.
func New(dir string, most int64) *Cache {
	return &Cache{file: file{dir: dir, most: most}, entries: map[render.Resource]entry{}}
}

// Close closes the file. After that, no URL has an answer.
func (c *Cache) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entries = map[render.Resource]entry{}
	return c.file.close()
}

// Has reports whether a resource has an answer.
func (c *Cache) Has(r render.Resource) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.entries[r]
	return ok
}

// Put keeps an answer, unless the resource already has one. An answer that does not fit or cannot be written
// becomes a refusal. Header bytes that are not UTF-8 are dropped, since no script can see them.
func (c *Cache) Put(r render.Resource, a *render.Answer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.entries[r]; ok || c.full() {
		return
	}
	c.kept += len(r.URL) + len(r.Accept)
	if a.Refused != "" {
		c.entries[r] = entry{refused: a.Refused}
		return
	}
	c.entries[r] = entry{refused: Crowded}
	header, size := cleaned(a.Header)
	if len(c.entries) > maxEntries || size > maxHeader {
		return
	}
	if at, ok := c.file.put(a.Body); ok {
		c.kept += size
		c.entries[r] = entry{status: a.Status, header: header, body: at, sum: xxh3.Hash(a.Body)}
	}
}

// full reports whether there is no room for any further answer, not even a refusal.
func (c *Cache) full() bool { return len(c.entries) > 2*maxEntries || c.kept > maxKept }

// cleaned returns a header in UTF-8, and its size as JSON.
func cleaned(h http.Header) (clean http.Header, size int) {
	clean = make(http.Header, len(h))
	for name, values := range h {
		for _, v := range values {
			clean[name] = append(clean[name], strings.ToValidUTF8(v, ""))
		}
	}
	text, err := json.Marshal(clean)
	if err != nil {
		return nil, math.MaxInt // cannot happen
	}
	return clean, len(text)
}

// A Piece is a piece of an answer.
type Piece struct {
	render.Answer        // the header is only in the first piece
	Size          int    // of the whole body, in bytes
	Sum           uint64 // XXH3 of the whole body
}

// Piece returns at most most bytes of an answer's body, starting at byte at. If the cache is full, a
// resource without an answer is refused.
func (c *Cache) Piece(r render.Resource, at, most int) (Piece, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries[r]
	if !ok && c.full() {
		e, ok = entry{refused: Crowded}, true
	}
	if !ok || e.refused != "" {
		return Piece{Answer: render.Answer{Refused: e.refused}, Sum: xxh3.Hash(nil)}, ok
	}
	p := Piece{Answer: render.Answer{Status: e.status}, Size: int(e.body.size), Sum: e.sum}
	if at == 0 {
		p.Header = e.header.Clone()
	}
	body, err := c.file.get(e.body.piece(int64(at), int64(most)))
	if err != nil {
		return Piece{Answer: render.Answer{Refused: err.Error()}, Sum: xxh3.Hash(nil)}, true
	}
	p.Body = body
	return p, true
}

// Answer implements [render.Answers]. A body that can no longer be read counts as refused. If the cache is
// full, a resource without an answer is refused.
func (c *Cache) Answer(r render.Request) (render.Answer, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries[r.Resource]
	if !ok && c.full() {
		e, ok = entry{refused: Crowded}, true
	}
	if !ok || e.refused != "" {
		return render.Answer{Refused: e.refused}, ok
	}
	a := render.Answer{Status: e.status, Header: e.header.Clone()}
	if r.Method == http.MethodHead {
		return a, true
	}
	body, err := c.file.get(e.body)
	if err != nil {
		return render.Answer{Refused: err.Error()}, true
	}
	a.Body = body
	return a, true
}

// A Page is a fetched page that waits to be rendered. Its owner must free it.
type Page struct {
	URL    string
	Status int
	Header http.Header
	body   extent
	cache  *Cache
}

// Keep stores a page until it is rendered, with a copy of its body. It returns nil if there is no room.
func (c *Cache) Keep(p *render.Page) *Page {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, ok := c.file.put(p.Body)
	if !ok {
		return nil
	}
	return &Page{URL: p.URL, Status: p.Status, Header: p.Header, body: at, cache: c}
}

// Load reads a page.
func (p *Page) Load() (render.Page, error) {
	p.cache.mu.Lock()
	defer p.cache.mu.Unlock()
	body, err := p.cache.file.get(p.body)
	return render.Page{URL: p.URL, Status: p.Status, Header: p.Header, Body: body}, err
}

// Free releases the space of a page. It is idempotent.
func (p *Page) Free() {
	p.cache.mu.Lock()
	defer p.cache.mu.Unlock()
	p.cache.file.release(p.body)
	p.body = extent{}
}
