package control

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"
)

// Root is the path of the API of a crawl, and of the larger API of a desk.
const Root = "/api/v1/"

const (
	sizeHeader = "Ripple-Size"
	patience   = 10 * time.Second // for a client that accepts no byte of a copy
	reloading  = 20 * time.Second // for open requests to end before another configuration is followed
)

// A Crawl answers requests and commands. Its methods are safe for concurrent use. Their results are sent as
// JSON; errors are sent to the client, an [Error] with its own code.
type Crawl interface {
	// Status returns the current status, or with latest the last known one.
	Status(ctx context.Context, latest bool) (any, error)
	// Feed returns visits after a cursor; brief omits their links. If last is not 0, it returns only that
	// many of the last visits, briefly.
	Feed(ctx context.Context, since uint64, brief bool, last uint64) (any, error)
	// Requests returns the last requests to a host.
	Requests(ctx context.Context, domain string) (any, error)
	// Fetching returns the open requests.
	Fetching(context.Context) (any, error)
	// Origins tells how far the run has come with its origins.
	Origins(context.Context) (any, error)
	Pause(context.Context) (any, error)
	Unpause(context.Context) (any, error)
	Stop(context.Context) (any, error)
	Reload(context.Context) (any, error)
	// Metrics answers a Prometheus scrape.
	Metrics(http.ResponseWriter, *http.Request)
	// Size returns the current size of a copy in bytes; Snapshot writes the copy.
	Size(context.Context) (int64, error)
	Snapshot(io.Writer) (int64, error)
}

// NewHandler returns the API of a crawl.
func NewHandler(c Crawl) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+Root+"status", func(w http.ResponseWriter, r *http.Request) {
		latest := r.URL.Query().Get("latest") != ""
		reply(func(ctx context.Context) (any, error) { return c.Status(ctx, latest) }).ServeHTTP(w, r)
	})
	mux.Handle("GET "+Root+"feed", feed(c))
	mux.Handle("GET "+Root+"fetching", reply(c.Fetching))
	mux.Handle("GET "+Root+"origins", reply(c.Origins))
	mux.HandleFunc("GET "+Root+"metrics", c.Metrics)
	mux.Handle("GET "+Root+"snapshot", &snapshots{crawl: c, token: make(chan struct{}, 1)})
	mux.Handle("POST "+Root+"pause", reply(c.Pause))
	mux.Handle("POST "+Root+"unpause", reply(c.Unpause))
	mux.Handle("POST "+Root+"stop", reply(c.Stop))
	mux.HandleFunc("POST "+Root+"reload", func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(reloading))
		reply(c.Reload).ServeHTTP(w, r)
	})
	mux.HandleFunc("GET "+Root+"hosts/{domain}/requests", func(w http.ResponseWriter, r *http.Request) {
		domain := r.PathValue("domain")
		reply(func(ctx context.Context) (any, error) { return c.Requests(ctx, domain) }).ServeHTTP(w, r)
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		refuse(w, &Error{http.StatusNotFound, "this crawl does not know " + strconv.Quote(r.Method+" "+r.URL.Path) +
			"; it may be another version of ripple"})
	})
	return withoutBody(mux)
}

// withoutBody refuses requests that announce a body, without waiting for it: no request has one.
func withoutBody(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength == 0 {
			h.ServeHTTP(w, r)
			return
		}
		_ = http.NewResponseController(w).SetReadDeadline(time.Now())
		w.Header().Set("Connection", "close")
		refuse(w, &Error{http.StatusRequestEntityTooLarge, "a question has no body"})
	})
}

func reply(ask func(context.Context) (any, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v, err := ask(r.Context())
		if err != nil {
			refuse(w, err)
			return
		}
		send(w, http.StatusOK, v)
	})
}

func feed(c Crawl) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		since, err := strconv.ParseUint(r.URL.Query().Get("since"), 10, 64)
		if err != nil {
			refuse(w, &Error{http.StatusBadRequest, "since is not a cursor"})
			return
		}
		brief := r.URL.Query().Get("brief") != ""
		last, err := strconv.ParseUint(cmp.Or(r.URL.Query().Get("last"), "0"), 10, 64)
		if err != nil {
			refuse(w, &Error{http.StatusBadRequest, "last is not a number"})
			return
		}
		reply(func(ctx context.Context) (any, error) { return c.Feed(ctx, since, brief, last) }).ServeHTTP(w, r)
	})
}

func refuse(w http.ResponseWriter, err error) {
	code := http.StatusInternalServerError
	var e *Error
	if errors.As(err, &e) {
		code = e.Code
	}
	send(w, code, fault{err.Error()})
}

type fault struct {
	Error string `json:"error"`
}

func send(w http.ResponseWriter, code int, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		code, text = http.StatusInternalServerError, []byte(`{"error":"the answer cannot be written"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(code)
	_, _ = w.Write(text)
}

// snapshots sends copies of the state, one at a time.
type snapshots struct {
	crawl Crawl
	token chan struct{} // holds a value while a copy is made
}

func (s *snapshots) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	select {
	case s.token <- struct{}{}:
		defer func() { <-s.token }()
	default:
		refuse(w, &Error{http.StatusConflict, "another copy of the state is being made; try again when it is done"})
		return
	}
	size, err := s.crawl.Size(r.Context())
	if err != nil {
		refuse(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set(sizeHeader, strconv.FormatInt(size, 10))
	to := &patient{w, http.NewResponseController(w)}
	to.extend()
	if err := to.control.Flush(); err != nil {
		return
	}
	if _, err := s.crawl.Snapshot(to); err != nil {
		panic(http.ErrAbortHandler) // without its last chunk the copy is incomplete
	}
}

// A patient writer fails only if the client accepts nothing for a while.
type patient struct {
	http.ResponseWriter
	control *http.ResponseController
}

func (p *patient) Write(b []byte) (int, error) {
	p.extend()
	return p.ResponseWriter.Write(b)
}

func (p *patient) extend() { _ = p.control.SetWriteDeadline(time.Now().Add(patience)) }
