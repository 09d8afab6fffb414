package control

import (
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
	obeying    = 20 * time.Second // for a command: a reload lets open requests end first
)

// A Source gives out the metrics and the state of a crawl. Its methods are safe for concurrent use.
type Source interface {
	// Metrics answers a Prometheus scrape.
	Metrics(http.ResponseWriter, *http.Request)
	// Size returns the current size of a copy in bytes; Snapshot writes the copy.
	Size(context.Context) (int64, error)
	Snapshot(io.Writer) (int64, error)
}

// NewHandler returns the API of a crawl: its metrics, copies of its state, and the questions and commands that
// others answers.
func NewHandler(s Source, others http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+Root+"metrics", s.Metrics)
	mux.Handle("GET "+Root+"snapshot", &snapshots{source: s, token: make(chan struct{}, 1)})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(obeying))
		}
		others.ServeHTTP(w, r)
	})
	return withoutBody(mux)
}

// Unknown refuses a request that this version of Ripple does not know.
func Unknown(w http.ResponseWriter, r *http.Request) {
	Refuse(w, &Error{http.StatusNotFound, "this crawl does not know " + strconv.Quote(r.Method+" "+r.URL.Path) +
		"; it may be another version of ripple"})
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
		Refuse(w, &Error{http.StatusRequestEntityTooLarge, "a question has no body"})
	})
}

// Refuse sends an error, an [Error] under its own code.
func Refuse(w http.ResponseWriter, err error) {
	code := http.StatusInternalServerError
	var e *Error
	if errors.As(err, &e) {
		code = e.Code
	}
	send(w, code, fault{err.Error()})
}

// Reply sends an answer as JSON.
func Reply(w http.ResponseWriter, v any) { send(w, http.StatusOK, v) }

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
	source Source
	token  chan struct{} // holds a value while a copy is made
}

func (s *snapshots) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	select {
	case s.token <- struct{}{}:
		defer func() { <-s.token }()
	default:
		Refuse(w, &Error{http.StatusConflict, "another copy of the state is being made; try again when it is done"})
		return
	}
	size, err := s.source.Size(r.Context())
	if err != nil {
		Refuse(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set(sizeHeader, strconv.FormatInt(size, 10))
	to := &patient{w, http.NewResponseController(w)}
	to.extend()
	if err := to.control.Flush(); err != nil {
		return
	}
	if _, err := s.source.Snapshot(to); err != nil {
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
