// Package fault simulates faults of an answer, from an endless header to a bomb of compressed spaces.
//
// It knows only HTTP, not the server: a [Fault] receives the request and the answer that an honest
// server would have sent. Endless faults continue until the client leaves or the request's context
// ends. Several may run concurrently.
package fault

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Fault is the way in which a page misbehaves when it is requested.
type Fault int

// The faults. Those from HeaderDrip to LengthTooShort need HTTP/1.1; the others work on any
// connection. Body faults answer HEAD with an honest header.
const (
	None            Fault = iota
	HeaderDrip            // an endless header, one byte every [Answer].Every
	EndlessHeader         // an endless header at full speed
	ControlLocation       // 302 with control bytes in Location
	Status99              // status code 99
	Status999             // status code 999
	Garbage               // an answer that is not HTTP
	CloseAtOnce           // closes without an answer
	Reset                 // resets without an answer
	ResetMidBody          // resets after half of the body
	Truncated             // closes after half of the body that Content-Length promised
	TruncatedChunks       // closes before the last chunk
	BadChunk              // an invalid chunk size
	LengthTooLong         // Content-Length is larger than the body; the connection stays open
	LengthTooShort        // Content-Length is smaller; the rest looks like another answer

	Silence           // accepts the request and sends nothing
	BigHeader         // a header of 1 MB
	EndlessEarlyHints // 103 forever
	ManyCookies       // 9,000 cookies, then the page
	BodyDrip          // the page, then an endless body, one byte every [Answer].Every
	EndlessBody       // the page, then an endless body at full speed
	GzipBomb          // 1 GB in about 1 MB of gzip
	BrotliBomb        // 1 GB of brotli
	ZstdBomb          // 1 GB of zstd
	NestedGzipBomb    // 1 GB of gzip inside gzip, Content-Encoding: gzip, gzip
	GzipFileBomb      // 1 GB in a gzip file without a Content-Encoding
)

func names() []string {
	return []string{"none", "header-drip", "endless-header", "control-location", "status-99",
		"status-999", "garbage", "close", "reset", "reset-mid-body", "truncated", "truncated-chunks",
		"bad-chunk", "length-too-long", "length-too-short", "silence", "big-header",
		"endless-early-hints", "many-cookies", "body-drip", "endless-body", "gzip-bomb",
		"brotli-bomb", "zstd-bomb", "nested-gzip-bomb", "gzip-file-bomb"}
}

// String returns the fault's name, which [Named] parses.
func (f Fault) String() string {
	if all := names(); f >= 0 && int(f) < len(all) {
		return all[f]
	}
	return "unknown"
}

// Named returns the fault with a name, and false if there is none.
func Named(name string) (Fault, bool) {
	i := slices.Index(names(), name)
	return Fault(max(i, 0)), i >= 0
}

// All returns all faults except [None], for tests that go through every one.
func All() []Fault {
	all := make([]Fault, 0, GzipFileBomb)
	for f := HeaderDrip; f <= GzipFileBomb; f++ {
		all = append(all, f)
	}
	return all
}

// Raw reports whether a fault is written to the connection itself, which requires HTTP/1.1. No raw
// fault is a complete answer.
func (f Fault) Raw() bool { return f >= HeaderDrip && f <= LengthTooShort }

// InBody reports whether the answer to a HEAD cannot show a fault.
func (f Fault) InBody() bool {
	return f >= ResetMidBody && f <= LengthTooShort || f >= BodyDrip
}

// An Answer is the answer of an honest server.
type Answer struct {
	Status int
	Header http.Header // not modified
	Body   []byte
	Send   func()        // sends the whole answer, with the header fields set on the ResponseWriter so far
	Every  time.Duration // between two bytes of a dripping fault
}

// Play answers r with the fault instead of a. A raw fault hijacks the connection; for a fault that
// resets, the connection must have a method Reset. Play panics with [http.ErrAbortHandler] if the
// connection must not be used again.
func (f Fault) Play(w http.ResponseWriter, r *http.Request, a Answer) {
	if f.Raw() {
		f.playRaw(w, r, a)
		return
	}
	for key, values := range a.Header {
		w.Header()[key] = values
	}
	switch f {
	case Silence:
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	case BigHeader:
		w.Header().Set("X-Padding", strings.Repeat("a", 1<<20))
		a.Send()
	case EndlessEarlyHints:
		hintForever(w, r)
	case ManyCookies:
		bake(w.Header())
		a.Send()
	case BodyDrip:
		a.drip(w, r)
	case EndlessBody:
		a.pour(w)
	default:
		f.explode(w, a)
	}
}

// hintForever ends when a hint can no longer be sent.
func hintForever(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Link", "</style.css>; rel=preload; as=style")
	for r.Context().Err() == nil {
		w.WriteHeader(http.StatusEarlyHints)
	}
	panic(http.ErrAbortHandler)
}

func bake(header http.Header) {
	for i := range 9000 {
		header.Add("Set-Cookie", "c"+strconv.Itoa(i)+"=1")
	}
}

func (a Answer) drip(w http.ResponseWriter, r *http.Request) {
	w.WriteHeader(a.Status)
	control := http.NewResponseController(w)
	_, err := w.Write(a.Body)
	for err == nil && control.Flush() == nil && pause(r.Context(), a.Every) {
		_, err = w.Write([]byte{'.'})
	}
	panic(http.ErrAbortHandler)
}

func (a Answer) pour(w http.ResponseWriter) {
	w.WriteHeader(a.Status)
	_, err := w.Write(a.Body)
	for filler := []byte(strings.Repeat("<p>There is always more.</p>\n", 1000)); err == nil; {
		_, err = w.Write(filler)
	}
	panic(http.ErrAbortHandler)
}

// pause waits for d and reports whether the context is still active.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
