// Package render renders pages: it returns a page as its scripts leave it.
//
// The browser that renders a page never accesses the web: each request of its scripts is answered from what the caller
// has already fetched. Requests without an answer are listed in [Rendering].Missing; the caller fetches them in its own
// time, under its own rules, and renders the page again. So no page occupies a browser while a politeness delay runs,
// and the same page with the same answers always gives the same document. If the browser has rendered no other page
// meanwhile, the page resumes where it was suspended, and its clock continues from there; otherwise it is loaded again.
// The resulting document is the same either way.
package render

import (
	"errors"
	"net/http"
	"strings"
	"time"
)

// ErrNoBrowser reports that no browser was found. Its text names the package to install.
var ErrNoBrowser = errors.New("no Chromium found")

// ErrTimeout reports that rendering a page took too long.
var ErrTimeout = errors.New("took too long")

// ErrNoSandbox reports that the browser's sandbox cannot protect this machine from the pages. Its
// text says how to fix that.
var ErrNoSandbox = errors.New("no sandbox for Chromium")

// A Page is a page to be rendered: the answer to a GET after redirects, with its body decoded.
type Page struct {
	URL    string
	Status int
	Header http.Header
	Body   []byte
}

// A Resource is what the scripts of pages request: an http or https URL as the browser writes it, without
// fragment, and the value of Accept, by which servers choose a format. No other header of a page's choice is sent.
type Resource struct {
	URL    string
	Accept string // see [Acceptable]; empty: */*
}

// A Request is a request of a page's scripts: GET or HEAD of a resource. It has no body and no cookies.
type Request struct {
	Method string
	Resource
}

// Acceptable reports whether a value of Accept is sent: a CORS-safelisted one (Fetch, section 2.2.2).
func Acceptable(accept string) bool {
	return len(accept) <= 128 && !strings.ContainsFunc(accept, func(r rune) bool {
		return r < ' ' && r != '\t' || r > '~' || strings.ContainsRune(`"():<>?@[\]{}`, r)
	})
}

// An Answer is the result of a request: a response, or a refusal. The browser follows a redirect by making
// another request.
type Answer struct {
	Status  int
	Header  http.Header
	Body    []byte // decoded
	Refused string // why there is no response; empty: there is one
}

// Answers looks answers up. It is used by one goroutine at a time, and must return the same answer to the
// same request while a page is rendered.
type Answers interface {
	// Answer returns the answer to a request, or false if it has not been requested yet.
	Answer(Request) (Answer, bool)
}

// A Refusal is a request that was refused, or whose headers were.
type Refusal struct {
	Request
	Reason string // such as [Worker], "frame", or what Answer.Refused says
}

// Reasons for refusals that may matter to what a page shows.
const (
	Sends       = "not GET or HEAD"
	WebSocket   = "websocket" // and WebTransport
	EventSource = "eventsource"
	Worker      = "worker"
	OwnHeader   = "made without a header of the page's own choosing" // other than Accept
	TooMany     = "too many requests"
)

// A Rendering is the result of rendering a page.
type Rendering struct {
	// DOM is the document as HTML in UTF-8, including the doctype, with open shadow roots as declarative
	// templates. It is empty if something is missing or the document is too large.
	DOM []byte
	// Missing lists the requests without an answer, each once, in order. If it is not empty, the page must be
	// rendered again once there are answers.
	Missing []Request
	// Used lists the requests that got a response, each once, in order.
	Used []Request
	// Refused lists the requests that were refused, each once, in order.
	Refused []Refusal
	// Navigations lists the URLs to which the page tried to navigate its own window or a new one, each once,
	// in order. None was followed.
	Navigations []string
	// TooLarge reports that the document exceeds Options.MaxDOM.
	TooLarge bool
	// Processor is the processor time that the browser has used, even if it failed.
	Processor time.Duration
}

// Options are the options of a [Renderer].
type Options struct {
	// Path is the browser's executable; empty: search $PATH for Chromium.
	Path string
	// Browsers is the number of browsers, at least 1.
	Browsers int
	// NoSandbox turns off Chromium's sandbox. With the sandbox, Chromium refuses to start for root, and where
	// the kernel does not allow users to create namespaces.
	NoSandbox bool
	// UserAgent is the value of navigator.userAgent.
	UserAgent string
	// MaxDOM is the size of the largest document, in bytes.
	MaxDOM int64
}
