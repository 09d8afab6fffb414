// Package render shows what a page is once its scripts have run.
//
// A page is rendered by a browser that never asks the web: each request of its scripts
// is answered from what the caller has already fetched. What the caller has not got is
// named in [Rendering].Missing; the caller fetches it in its own time, under its own
// rules, and renders the page afresh. So no page holds a browser while a clock runs, and
// one page with the same answers always gives the same document.
package render

import (
	"errors"
	"net/http"
)

// ErrNoBrowser reports that there is no browser to render with. Its text names the package.
var ErrNoBrowser = errors.New("no Chromium found")

// ErrNoSandbox reports that the browser cannot protect this machine from what it renders.
// Its text says what can be done.
var ErrNoSandbox = errors.New("no sandbox for Chromium")

// A Page is what a visit got, and is rendered: the answer to a GET after redirects, its
// body decoded.
type Page struct {
	URL    string
	Status int
	Header http.Header
	Body   []byte
}

// A Request is what a page's scripts ask for, with what is between them: GET or HEAD, and
// an http or https URL as the browser writes it, without fragment. It carries no body, no
// cookies and no headers of the page's choice.
type Request struct {
	Method, URL string
}

// An Answer is what a request gets: a response, whose redirects are not followed, or a
// refusal. The browser follows redirects by asking again.
type Answer struct {
	Status  int
	Header  http.Header
	Body    []byte // decoded
	Refused string // why there is no response; empty: there is one
}

// Answers looks answers up. It is asked by one goroutine at a time, and its answer to one
// request is the same while a page is rendered.
type Answers interface {
	// Answer returns the answer to a request; false: it has not been asked for yet.
	Answer(method, url string) (Answer, bool)
}

// A Refusal is a request that was not answered.
type Refusal struct {
	Request
	Reason string // "worker", "not GET or HEAD", or what Answer.Refused says
}

// A Rendering is what became of a page.
type Rendering struct {
	// DOM is the document as HTML in UTF-8, doctype included, open shadow roots as
	// declarative templates; empty if something is missing or it is too large.
	DOM []byte
	// Missing are the requests without an answer, each once, in the order of asking. Not
	// empty: the page is to be rendered afresh, once there are answers.
	Missing []Request
	// Used are the requests that got a response, each once, in the order of asking.
	Used []Request
	// Refused are the requests that got none, each once, in the order of asking.
	Refused []Refusal
	// Navigations are the URLs to which the page tried to lead its own window or a new
	// one, each once, in order. None was followed.
	Navigations []string
	// TooLarge says that the document exceeds Options.MaxDOM.
	TooLarge bool
}

// Options of a [Renderer].
type Options struct {
	// Path is the browser's executable; empty: Chromium is looked for in $PATH.
	Path string
	// Browsers is how many run at a time, at least 1.
	Browsers int
	// NoSandbox renders without Chromium's sandbox. Chromium refuses to start with it for
	// root, and where the kernel does not let users make namespaces.
	NoSandbox bool
	// UserAgent is what scripts read in navigator.userAgent.
	UserAgent string
	// MaxDOM is the largest document, in bytes.
	MaxDOM int64
}
