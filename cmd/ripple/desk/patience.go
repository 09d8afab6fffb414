package desk

import (
	"errors"
	"io"
	"net/http"
	"time"
)

// A patience says how long to wait for clients.
type patience struct {
	reading time.Duration // for the whole body of a request
	stall   time.Duration // while the client reads nothing of an answer
}

// patiently limits how long a client may take to send its request, and how long it may read nothing
// of the answer. The time that h needs to compute the answer does not count.
func patiently(h http.Handler, p *patience) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := http.NewResponseController(w)
		if r.ContentLength != 0 {
			_ = c.SetReadDeadline(time.Now().Add(p.reading))
			r.Body = &awaited{r.Body, c}
		}
		h.ServeHTTP(&patient{w, c, p.stall}, r)
	})
}

// An awaited body lifts the deadline once all of it has arrived. Otherwise the deadline would end
// the request while it is being answered.
type awaited struct {
	io.ReadCloser
	control *http.ResponseController
}

func (a *awaited) Read(b []byte) (int, error) {
	n, err := a.ReadCloser.Read(b)
	if errors.Is(err, io.EOF) {
		_ = a.control.SetReadDeadline(time.Time{})
	}
	return n, err
}

// A patient writer fails when no byte of a piece is read for a while.
type patient struct {
	http.ResponseWriter
	control *http.ResponseController
	stall   time.Duration
}

// Unwrap is called by [http.ResponseController].
func (p *patient) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// piece is the number of bytes that a client must read in time.
const piece = 16 << 10

func (p *patient) Write(b []byte) (written int, err error) {
	for first := true; first || len(b) > 0 && err == nil; first = false {
		_ = p.control.SetWriteDeadline(time.Now().Add(p.stall))
		var n int
		n, err = p.ResponseWriter.Write(b[:min(len(b), piece)])
		written, b = written+n, b[n:]
	}
	return written, err
}
