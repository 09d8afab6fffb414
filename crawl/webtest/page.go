package webtest

import (
	"bytes"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/sumi-ripple/ripple/crawl/webtest/fault"
)

// defaultEvery is the default interval between two bytes of a dripping fault.
const defaultEvery = 100 * time.Millisecond

// A Page is one answer of a host. Its methods modify and return it.
type Page struct {
	host *Host

	mu      sync.Mutex
	status  int
	header  http.Header // never modified in place: an answer may be in progress
	body    []byte
	delay   time.Duration
	every   time.Duration
	fault   fault.Fault
	early   []early
	codings []string
	coded   map[string][]byte // the body in each coding, created on demand
}

// An early answers the first requests to a page.
type early struct {
	left   int
	status int
	header http.Header
}

// An answer is the answer of a page at one time.
type answer struct {
	status int
	header http.Header
	body   []byte
	coding string
	delay  time.Duration
	every  time.Duration
	fault  fault.Fault
}

// Type sets the Content-Type; "" sends none.
func (p *Page) Type(contentType string) *Page { return p.Header("Content-Type", contentType) }

// Bytes replaces the body.
func (p *Page) Bytes(body []byte) *Page {
	return p.change(func() { p.body, p.coded = body, nil })
}

// Header sets one header field; "" suppresses it.
func (p *Page) Header(key, value string) *Page {
	return p.change(func() {
		p.header = p.header.Clone()
		if p.header.Set(key, value); value == "" {
			p.header[http.CanonicalHeaderKey(key)] = nil
		}
	})
}

// Status sets the status code, 200 to 999; interim and impossible codes are faults.
func (p *Page) Status(code int) *Page { return p.change(func() { p.status = code }) }

// Delay delays the answer, in addition to the host's latency.
func (p *Page) Delay(d time.Duration) *Page { return p.change(func() { p.delay = d }) }

// Every sets the time between two bytes of a dripping fault, by default 100 ms.
func (p *Page) Every(d time.Duration) *Page { return p.change(func() { p.every = d }) }

// ETag sets the validator, quotes included, and answers If-None-Match with 304.
func (p *Page) ETag(tag string) *Page { return p.Header("Etag", tag) }

// LastModified sets the date and answers If-Modified-Since with 304.
func (p *Page) LastModified(t time.Time) *Page {
	return p.Header("Last-Modified", t.UTC().Format(http.TimeFormat))
}

// Gzip encodes the body for clients that accept gzip. With several codings, the first one set that is
// accepted is used.
func (p *Page) Gzip() *Page { return p.encode("gzip") }

// Brotli encodes the body for clients that accept br.
func (p *Page) Brotli() *Page { return p.encode("br") }

// Zstd encodes the body for clients that accept zstd.
func (p *Page) Zstd() *Page { return p.encode("zstd") }

// Times answers the next n requests, of any method, with the status and header instead of the page.
// Several calls queue up.
func (p *Page) Times(n, status int, header http.Header) *Page {
	return p.change(func() { p.early = append(p.early, early{n, status, header.Clone()}) })
}

// Fault makes the page misbehave. If the fault requires HTTP/1.1, new connections to the host's
// name are restricted to that.
func (p *Page) Fault(f fault.Fault) *Page {
	if f.Raw() {
		p.host.HTTP1()
	}
	return p.change(func() { p.fault = f })
}

func (p *Page) encode(coding string) *Page {
	return p.change(func() { p.codings = append(p.codings, coding) })
}

func (p *Page) change(f func()) *Page {
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
	return p
}

func (p *Page) respond(x *exchange, r *http.Request) {
	a := p.nextAnswer(r)
	if !pause(r.Context(), a.delay) {
		panic(http.ErrAbortHandler)
	}
	if a.fault == fault.None || r.Method == http.MethodHead && a.fault.InBody() {
		a.send(x, r)
		return
	}
	x.failed = a.fault.Raw() // none of them is a complete answer
	a.fault.Play(x, r, fault.Answer{
		Status: a.status, Header: a.header, Body: a.body, Every: a.every,
		Send: func() { a.send(x, r) },
	})
}

// nextAnswer chooses the answer and counts it.
func (p *Page) nextAnswer(r *http.Request) answer {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.early) > 0 && p.early[0].left <= 0 {
		p.early = p.early[1:]
	}
	if len(p.early) > 0 {
		e := &p.early[0]
		e.left--
		return answer{status: e.status, header: e.header, body: []byte(statusPage(e.status))}
	}
	a := answer{
		status: p.status, header: p.header, body: p.body,
		delay: p.delay, every: p.every, fault: p.fault,
	}
	if a.coding = acceptedCoding(r.Header, p.codings); a.coding != "" {
		a.body = p.inCoding(a.coding)
	}
	return a
}

// inCoding returns the encoded body and caches it. The caller holds mu.
func (p *Page) inCoding(coding string) []byte {
	if p.coded == nil {
		p.coded = map[string][]byte{}
	}
	if _, ok := p.coded[coding]; !ok {
		var buf bytes.Buffer
		w := newEncoder(&buf, coding)
		_, _ = w.Write(p.body) // a bytes.Buffer takes everything
		_ = w.Close()
		p.coded[coding] = buf.Bytes()
	}
	return p.coded[coding]
}

// send sends the answer as an honest server does.
func (a answer) send(x *exchange, r *http.Request) {
	header := x.Header()
	for key, values := range a.header {
		header[key] = values
	}
	if a.coding != "" {
		header.Set("Content-Encoding", a.coding)
		header.Set("Vary", "Accept-Encoding")
	}
	if a.status == http.StatusOK && notModified(r.Header, a.header) {
		x.WriteHeader(http.StatusNotModified)
		return
	}
	if bodyless(a.status) {
		x.WriteHeader(a.status)
		return
	}
	header.Set("Content-Length", strconv.Itoa(len(a.body)))
	x.WriteHeader(a.status)
	if r.Method != http.MethodHead {
		_, _ = x.Write(a.body)
	}
}

func bodyless(status int) bool {
	return status == http.StatusNoContent || status == http.StatusNotModified
}

func statusPage(code int) string {
	text := strconv.Itoa(code) + " " + http.StatusText(code)
	return "<!doctype html><title>" + text + "</title><h1>" + text + "</h1>\n"
}

func notFound(x *exchange) {
	a := answer{
		status: http.StatusNotFound, body: []byte(statusPage(http.StatusNotFound)),
		header: http.Header{"Content-Type": {"text/html; charset=utf-8"}},
	}
	a.send(x, x.request)
}
