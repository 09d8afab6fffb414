package webtest

import (
	"net/http"
	"strconv"
	"strings"
)

// A Fault is how a page misbehaves once it is asked. Faults that have no end
// go on until the client leaves or the server closes.
type Fault int

// The faults. Those from HeaderDrip to LengthTooShort need HTTP/1.1; the others
// work on any connection. Body faults answer HEAD with an honest header.
const (
	NoFault         Fault = iota
	HeaderDrip            // a header without end, one byte every [Page.Every]
	EndlessHeader         // a header without end, at full speed
	ControlLocation       // 302 with control bytes in Location
	Status99              // status code 99
	Status999             // status code 999
	Garbage               // an answer that is not HTTP
	CloseAtOnce           // closes without an answer
	Reset                 // resets without an answer
	ResetMidBody          // resets after half of the body
	Truncated             // closes after half of the body that Content-Length promised
	TruncatedChunks       // closes before the last chunk
	BadChunk              // a chunk size that is no number
	LengthTooLong         // Content-Length is larger than the body; the connection stays open
	LengthTooShort        // Content-Length is smaller; the rest looks like another answer

	Silence           // takes the request and says nothing
	BigHeader         // a header of 1 MB
	EndlessEarlyHints // 103 for ever
	ManyCookies       // 3,500 cookies, then the page
	BodyDrip          // the page, then a body without end, one byte every [Page.Every]
	EndlessBody       // the page, then a body without end, at full speed
	GzipBomb          // 1 GB in about 1 MB of gzip
	BrotliBomb        // 1 GB of brotli
	ZstdBomb          // 1 GB of zstd
	NestedGzipBomb    // 1 GB of gzip inside gzip, Content-Encoding: gzip, gzip
	GzipFileBomb      // 1 GB in a gzip file without a Content-Encoding
)

func faultNames() []string {
	return []string{"none", "header-drip", "endless-header", "control-location", "status-99",
		"status-999", "garbage", "close", "reset", "reset-mid-body", "truncated", "truncated-chunks",
		"bad-chunk", "length-too-long", "length-too-short", "silence", "big-header",
		"endless-early-hints", "many-cookies", "body-drip", "endless-body", "gzip-bomb",
		"brotli-bomb", "zstd-bomb", "nested-gzip-bomb", "gzip-file-bomb"}
}

// String is the fault's name as [Server.Load] reads it.
func (f Fault) String() string { return nameOf(faultNames(), int(f)) }

// Faults are all of them, for tests that go through every one.
func Faults() []Fault {
	all := make([]Fault, 0, GzipFileBomb)
	for f := HeaderDrip; f <= GzipFileBomb; f++ {
		all = append(all, f)
	}
	return all
}

func (f Fault) raw() bool { return f >= HeaderDrip && f <= LengthTooShort }

// inBody reports faults that the answer to a HEAD cannot show.
func (f Fault) inBody() bool {
	return f >= ResetMidBody && f <= LengthTooShort || f >= BodyDrip
}

// misbehave plays the fault. It ends in a panic where the connection must not
// be used again.
func (a answer) misbehave(x *exchange) {
	if a.fault.raw() {
		a.playRaw(x)
		return
	}
	a.setHeader(x)
	switch a.fault {
	case Silence:
		<-x.request.Context().Done()
		panic(http.ErrAbortHandler)
	case BigHeader:
		x.Header().Set("X-Padding", strings.Repeat("a", 1<<20))
		a.send(x, x.request)
	case EndlessEarlyHints:
		a.hintForever(x)
	case ManyCookies:
		bake(x.Header())
		a.send(x, x.request)
	case BodyDrip:
		a.drip(x)
	case EndlessBody:
		a.pour(x)
	default:
		a.explode(x)
	}
}

func (a answer) setHeader(x *exchange) {
	for key, values := range a.header {
		x.Header()[key] = values
	}
}

// hintForever ends when a hint can no longer be sent.
func (a answer) hintForever(x *exchange) {
	x.Header().Set("Link", "</style.css>; rel=preload; as=style")
	for x.request.Context().Err() == nil {
		x.WriteHeader(http.StatusEarlyHints)
	}
	panic(http.ErrAbortHandler)
}

func bake(header http.Header) {
	for i := range 3500 {
		header.Add("Set-Cookie", "c"+strconv.Itoa(i)+"=1")
	}
}

func (a answer) drip(x *exchange) {
	x.WriteHeader(a.status)
	_, _ = x.Write(a.body)
	x.Flush()
	for !x.failed && pause(x.request.Context(), a.every) {
		_, _ = x.Write([]byte{'.'})
		x.Flush()
	}
	panic(http.ErrAbortHandler)
}

func (a answer) pour(x *exchange) {
	x.WriteHeader(a.status)
	_, _ = x.Write(a.body)
	filler := []byte(strings.Repeat("<p>There is always more.</p>\n", 1000))
	for !x.failed {
		_, _ = x.Write(filler)
	}
	panic(http.ErrAbortHandler)
}
