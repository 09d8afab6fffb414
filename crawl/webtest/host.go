package webtest

import (
	"io/fs"
	"net/http"
	"strings"
	"time"
)

// A responder answers one request.
type responder interface {
	respond(x *exchange, r *http.Request)
}

// A Host is one name of the web.
//
// A request is answered by the first of these that exists: the route of its path and query, the
// route of its path, the longest route that ends in "*", the folder, 404. Paths are compared byte
// for byte as requested.
type Host struct {
	server  *Server
	name    string
	routes  map[string]responder // by path, or prefix and "*"
	wild    bool                 // some route ends in "*"
	folder  *folder
	latency time.Duration // negative: the server's
}

// Page serves html at path, which may include a query.
func (h *Host) Page(path, html string) *Page {
	p := &Page{host: h, status: http.StatusOK, body: []byte(html), every: defaultEvery}
	p.header = http.Header{"Content-Type": {"text/html; charset=utf-8"}}
	h.route(path, p)
	return p
}

// Handle serves path or, if it ends in "*", everything below it.
func (h *Host) Handle(path string, f http.HandlerFunc) { h.route(path, handler(f)) }

// Robots serves text as robots.txt.
func (h *Host) Robots(text string) {
	h.Page("/robots.txt", text).Type("text/plain; charset=utf-8")
}

// Redirect answers from with the status. The Location is to, unchanged.
func (h *Host) Redirect(from, to string, status int) {
	h.Page(from, "").Status(status).Header("Location", to)
}

// Status answers path with the code and a line of HTML.
func (h *Host) Status(path string, code int) { h.Page(path, statusPage(code)).Status(code) }

// Folder serves the files of fsys below "/" as common servers do: with types by extension,
// index.html for a folder, 301 to the form with the slash, validators, and gzip for text.
func (h *Host) Folder(fsys fs.FS) {
	h.server.mu.Lock()
	defer h.server.mu.Unlock()
	h.folder = newFolder(fsys)
}

// Latency delays every answer of this host, overriding the server's latency.
func (h *Host) Latency(d time.Duration) {
	h.server.mu.Lock()
	defer h.server.mu.Unlock()
	h.latency = max(d, 0)
}

// Down makes every new connection to this name fail; [Up] ends that. Open connections stay.
func (h *Host) Down(mode Down) {
	h.server.setGate(h.name, func(r *sniRule) { r.down = mode })
}

// HTTP1 restricts new connections to this name to HTTP/1.1.
func (h *Host) HTTP1() {
	h.server.setGate(h.name, func(r *sniRule) { r.http1 = true })
}

func (h *Host) route(path string, to responder) {
	h.server.mu.Lock()
	defer h.server.mu.Unlock()
	h.routes[path] = to
	h.wild = h.wild || strings.HasSuffix(path, "*")
}

// find must be called with the server's lock held. It returns nil if nothing matches.
func (h *Host) find(uri string) responder {
	if to, ok := h.routes[uri]; ok {
		return to
	}
	path, _, _ := strings.Cut(uri, "?")
	if to, ok := h.routes[path]; ok {
		return to
	}
	for i := len(path); i >= 0 && h.wild; i-- {
		if to, ok := h.routes[path[:i]+"*"]; ok {
			return to
		}
	}
	if h.folder != nil {
		return h.folder
	}
	return nil
}

// A handler is an answer that the caller writes.
type handler http.HandlerFunc

func (f handler) respond(x *exchange, r *http.Request) { f(x, r) }
