// Package weburl says what a URL is: it reads one as browsers do and brings it
// to the one spelling that is a page's identity.
//
// Reading follows the WHATWG URL standard for http and https: tabs and newlines
// are dropped, backslashes are slashes, odd bytes are percent-encoded, and
// references are resolved against a [Base]. [Rules] then apply the nine steps
// of an identity. The result is a [URL], with two spellings:
//
//   - Norm is the identity, what pages are told apart by;
//   - Form is the address, what is requested. It keeps "www.", the trailing
//     slash and the order of the parameters, because some sites exist only so.
//
// Laws: the Norm of a Norm is itself, and so is the Norm of its Form. Reading
// takes time linear in the input, which is refused beyond 64 KiB.
//
// A host is written "name" or "name:port", the name in lower-case A-labels, an
// IPv6 address in brackets, and the port only where it is not 443. The functions
// on hosts and identities expect that spelling; anything else gets an answer
// without meaning, never a panic.
package weburl

import (
	"errors"
	"strconv"
	"strings"
)

// Reasons why a text is no URL. Errors about a URL or a host wrap one of them, and
// show the beginning of the text, quoted as ASCII.
var (
	ErrMalformed = errors.New("malformed URL")
	ErrScheme    = errors.New("scheme is not http or https") // or there is none, and no base
	ErrNoHost    = errors.New("URL without host")
	ErrTooLong   = errors.New("URL too long")
)

const (
	// maxRaw bounds, in bytes, what is looked at.
	maxRaw = 64 << 10
	// maxBase bounds, in bytes, the text of a base, unless longer URLs are wanted.
	maxBase = 16 << 10

	origin = "https://" // how every Norm and Form begins
)

// URL is one normalised URL.
type URL struct {
	// Norm is the identity: https://host[:port]/path[?query].
	Norm string
	// Form is the address: the WHATWG serialisation with scheme https and without
	// user, fragment, default port and stripped parameters. It shares memory with
	// Norm where it can.
	Form string
	// HTTP reports that the URL was written with scheme http, or relative to one that was.
	HTTP bool
}

// Host is the host of the identity.
func (u URL) Host() string { return Host(u.Norm) }

// PathQuery is what follows the host in the identity; it begins with "/".
func (u URL) PathQuery() string { return PathQuery(u.Norm) }

// Host is the host of a Norm, or of a Form, with its port if it has one.
func Host(norm string) string {
	host, _ := Split(norm)
	return host
}

// PathQuery is what follows the host in a Norm or a Form.
func PathQuery(norm string) string {
	_, pathQuery := Split(norm)
	return pathQuery
}

// Split cuts a Norm or a Form behind its host.
func Split(norm string) (host, pathQuery string) {
	norm = strings.TrimPrefix(norm, origin)
	for i := range len(norm) {
		if norm[i] == '/' || norm[i] == '?' {
			return norm[:i], norm[i:]
		}
	}
	return norm, ""
}

// A parseError holds why and where; its text is made only when it is read,
// since most are of links such as mailto: and nobody reads them.
type parseError struct {
	reason error
	input  string
}

func (e *parseError) Error() string {
	return e.reason.Error() + ": " + strconv.QuoteToASCII(e.input)
}

func (e *parseError) Unwrap() error { return e.reason }

// refuse wraps reason with the beginning of input, copied so that an error never
// keeps a whole page in memory.
func refuse(reason error, input string) error {
	const shown = 100
	if len(input) > shown {
		input = strings.ToValidUTF8(input[:shown-3], "") + "..."
	}
	return &parseError{reason, strings.Clone(input)}
}
