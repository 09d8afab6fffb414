// Package answers keeps what pages request while they are rendered: for every resource the first answer of a run.
// All pages thus see the same scripts, and no server gets the same request twice.
//
// The browser gets its answers only from here. A URL that may not be requested has a refusal as its answer, which is
// kept as long as the configuration is in effect. All that was requested is also in a file that outlives the process,
// see [Cache.Continue]: a crawl that was killed or stopped, or has another configuration, requests nothing again in its
// run. The bodies of pages waiting to be rendered are in a temporary file.
package answers

import (
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"strings"
	"sync"

	"github.com/zeebo/xxh3"

	"github.com/sumi-ripple/ripple/crawl/render"
)

// MaxBytes is the limit for all bodies on disk, of a run of one state file.
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
	most    int64
	mu      sync.Mutex
	pages   file
	journal journal
	entries map[render.Resource]entry
	kept    int // bytes of URLs and headers
}

type entry struct {
	status  int
	header  http.Header
	body    extent // in the journal
	sum     uint64 // XXH3 of the body
	refused string
}

// New returns an empty cache whose bodies take at most the given number of bytes, in files in dir, or in the
// folder for temporary files if dir is "". Each file is created when it is needed.
func New(dir string, most int64) *Cache {
	return &Cache{most: most, pages: file{dir: dir}, journal: journal{dir: dir}, entries: map[render.Resource]entry{}}
}

// Continue keeps the answers in a file from now on. Those that are there already are known, if the file is of the
// run, which is named by one line of text. It is called before the cache is used otherwise.
func (c *Cache) Continue(path, run string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.journal.open(path, run, func(h *head, body extent) {
		if r := h.resource(); !c.known(r) && !c.full() {
			c.entries[r] = entry{h.Status, h.Header, body, h.Sum, h.Refused}
			c.kept += len(r.URL) + len(r.Accept) + h.size
		}
	})
}

// Close closes the files. After that, no URL has an answer.
func (c *Cache) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entries = map[render.Resource]entry{}
	return errors.Join(c.pages.close(), c.journal.close())
}

// Forget closes the files, and removes that of [Cache.Continue].
func (c *Cache) Forget() error {
	err := c.Close()
	if c.journal.path != "" {
		err = errors.Join(err, Remove(c.journal.path))
	}
	return err
}

// Has reports whether a resource has an answer.
func (c *Cache) Has(r render.Resource) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.known(r)
}

func (c *Cache) known(r render.Resource) bool {
	_, ok := c.entries[r]
	return ok
}

// Refuse keeps a refusal of a resource that was not requested, unless the resource already has an answer. It is
// forgotten with the cache.
func (c *Cache) Refuse(r render.Resource, why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known(r) || c.full() {
		return
	}
	c.kept += len(r.URL) + len(r.Accept)
	c.entries[r] = entry{refused: why}
}

// Put keeps the answer to a request, unless the resource already has one. An answer that does not fit or cannot be
// written becomes a refusal. Header bytes that are not UTF-8 are dropped, since no script can see them.
func (c *Cache) Put(r render.Resource, a *render.Answer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known(r) || c.full() {
		return
	}
	header, size := cleaned(a.Header)
	h := head{URL: r.URL, Accept: r.Accept, Status: a.Status, Header: header, Sum: xxh3.Hash(a.Body)}
	room := c.most - c.pages.end - c.journal.bodies
	switch {
	case a.Refused != "":
		h = head{URL: r.URL, Accept: r.Accept, Refused: a.Refused}
	case len(c.entries) >= maxEntries, size > maxHeader, int64(len(a.Body)) > room:
		h = head{URL: r.URL, Accept: r.Accept, Refused: Crowded}
	}
	body := a.Body
	if h.Refused != "" {
		body, size = nil, 0
	}
	at, err := c.journal.add(&h, body)
	if err != nil && h.Refused == "" {
		h, size = head{Refused: Crowded}, 0
	}
	c.kept += len(r.URL) + len(r.Accept) + size
	c.entries[r] = entry{h.Status, h.Header, at, h.Sum, h.Refused}
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
	body, err := read(c.journal.f, e.body.piece(int64(at), int64(most)))
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
	body, err := read(c.journal.f, e.body)
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
	at, ok := c.pages.put(p.Body, c.most-c.journal.bodies)
	if !ok {
		return nil
	}
	return &Page{URL: p.URL, Status: p.Status, Header: p.Header, body: at, cache: c}
}

// Load reads a page.
func (p *Page) Load() (render.Page, error) {
	p.cache.mu.Lock()
	defer p.cache.mu.Unlock()
	body, err := read(p.cache.pages.f, p.body)
	return render.Page{URL: p.URL, Status: p.Status, Header: p.Header, Body: body}, err
}

// Free releases the space of a page. It is idempotent.
func (p *Page) Free() {
	p.cache.mu.Lock()
	defer p.cache.mu.Unlock()
	p.cache.pages.release(p.body)
	p.body = extent{}
}
