// Package answers keeps what pages ask for while they are rendered: for every URL the
// first answer of a run, so that all pages see the same scripts, and no server is asked
// for one twice.
//
// The browser gets its answers from here alone. A URL that may not be asked has a
// refusal as its answer, which is kept like any other. The bodies, and those of the pages
// that wait to be rendered, lie in one temporary file; the rest is in memory.
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

// MaxBytes is what the bodies of a run of one state file may take on disk.
const MaxBytes = 1_000_000_000

// What is in memory is bounded, too: the header of an answer, in bytes as JSON, as it stands in
// letters between shards, the number of answers, and the bytes of all URLs and headers.
const (
	maxHeader  = 64 << 10
	maxEntries = 100_000
	maxKept    = 128 << 20
)

// Crowded is the refusal of what did not fit.
const Crowded = "too much was asked for while pages were rendered"

// A Cache holds the answers of a run. Its methods may be called from any goroutine.
type Cache struct {
	mu      sync.Mutex
	file    file
	entries map[string]entry
	kept    int // bytes of their URLs and headers
}

type entry struct {
	status  int
	header  http.Header
	body    extent
	sum     uint64 // XXH3 of the body
	refused string
}

// New returns an empty cache whose bodies take so many bytes at most, in a file in a
// folder, which is made when something is put there; "": that for temporary files.
func New(dir string, most int64) *Cache {
	return &Cache{file: file{dir: dir, most: most}, entries: map[string]entry{}}
}

// Close lets go of the file. What is asked for after that has no answer.
func (c *Cache) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entries = map[string]entry{}
	return c.file.close()
}

// Has reports whether a URL has an answer.
func (c *Cache) Has(url string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.entries[url]
	return ok
}

// Put keeps an answer, unless the URL has one. One that does not fit, or cannot be written,
// is refused. Bytes of the header that are no UTF-8 are left out: no script sees them.
func (c *Cache) Put(url string, a *render.Answer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.entries[url]; ok || c.full() {
		return
	}
	c.kept += len(url)
	if a.Refused != "" {
		c.entries[url] = entry{refused: a.Refused}
		return
	}
	c.entries[url] = entry{refused: Crowded}
	header, size := cleaned(a.Header)
	if len(c.entries) > maxEntries || size > maxHeader {
		return
	}
	if at, ok := c.file.put(a.Body); ok {
		c.kept += size
		c.entries[url] = entry{status: a.Status, header: header, body: at, sum: xxh3.Hash(a.Body)}
	}
}

// full reports whether there is no room for further answers, not even for refusals.
func (c *Cache) full() bool { return len(c.entries) > 2*maxEntries || c.kept > maxKept }

// cleaned is a header in UTF-8, and its size in JSON.
func cleaned(h http.Header) (clean http.Header, size int) {
	clean = make(http.Header, len(h))
	for name, values := range h {
		for _, v := range values {
			clean[name] = append(clean[name], strings.ToValidUTF8(v, ""))
		}
	}
	text, err := json.Marshal(clean)
	if err != nil {
		return nil, math.MaxInt // there is no such header
	}
	return clean, len(text)
}

// A Piece is a piece of an answer.
type Piece struct {
	render.Answer        // its header is there in the first piece only
	Size          int    // of the whole body, in bytes
	Sum           uint64 // XXH3 of the whole body
}

// Piece reads a piece of an answer, from a byte of the body on and of so many at most. If there is no room for
// further answers, a URL without one is refused.
func (c *Cache) Piece(url string, at, most int) (Piece, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries[url]
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

// Answer implements [render.Answers]. A body that cannot be read any more counts as none. If there is no room for
// further answers, a URL without one is refused.
func (c *Cache) Answer(method, url string) (render.Answer, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries[url]
	if !ok && c.full() {
		e, ok = entry{refused: Crowded}, true
	}
	if !ok || e.refused != "" {
		return render.Answer{Refused: e.refused}, ok
	}
	a := render.Answer{Status: e.status, Header: e.header.Clone()}
	if method == http.MethodHead {
		return a, true
	}
	body, err := c.file.get(e.body)
	if err != nil {
		return render.Answer{Refused: err.Error()}, true
	}
	a.Body = body
	return a, true
}

// A Page is a fetched page that waits to be rendered. Its owner frees it.
type Page struct {
	URL    string
	Status int
	Header http.Header
	body   extent
	cache  *Cache
}

// Keep stores a page until it is rendered; its body is copied. It returns nil if
// there is no room for it.
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

// Free gives back the room of a page. It may be called twice.
func (p *Page) Free() {
	p.cache.mu.Lock()
	defer p.cache.mu.Unlock()
	p.cache.file.release(p.body)
	p.body = extent{}
}
