// Package weburl parses URLs as browsers do, and canonicalizes them to the one spelling that is a
// page's identity.
//
// Parsing follows the WHATWG URL standard for http and https: tabs and newlines are dropped,
// backslashes are slashes, odd bytes are percent-encoded, and references are resolved against a [Base].
// [Rules] then apply the nine steps of canonicalization. The result is a [URL] with two spellings:
//
//   - Norm is the identity, which tells pages apart;
//   - Form is the address that is requested. It keeps "www.", the trailing slash and the order of the
//     parameters, because some sites work only with them.
//
// Laws: the Norm of a Norm is itself, and so is the Norm of its Form. Parsing takes time linear in the
// input. Input beyond 64 KiB is refused.
//
// A host is written "name" or "name:port": the name in lower-case A-labels, an IPv6 address in
// brackets, and the port only if it is not 443. Functions on hosts and identities expect that spelling.
// For anything else the result is meaningless, but they never panic.
package weburl

import (
	"errors"
	"strconv"
	"strings"
)

// Reasons why a text is not a URL. Errors about a URL or a host wrap one of them, and show the
// beginning of the text, quoted as ASCII.
var (
	ErrMalformed = errors.New("malformed URL")
	ErrScheme    = errors.New("scheme is not http or https") // also: no scheme and no base
	ErrNoHost    = errors.New("URL without host")
	ErrTooLong   = errors.New("URL too long")
)

const (
	// maxRaw is the maximum length of input, in bytes.
	maxRaw = 64 << 10
	// maxBase is the maximum length of a base, in bytes, unless longer URLs are configured.
	maxBase = 16 << 10

	origin = "https://" // the beginning of every Norm and Form
)

// URL is one canonicalized URL.
type URL struct {
	// Norm is the identity: https://host[:port]/path[?query].
	Norm string
	// Form is the address: the WHATWG serialisation with scheme https and without user, fragment,
	// default port and stripped parameters. It shares memory with Norm where possible.
	Form string
	// HTTP is set if the URL was written with scheme http, or relative to such a URL.
	HTTP bool
}

// Host returns the host of the identity.
func (u URL) Host() string { return Host(u.Norm) }

// PathQuery returns the part after the host of the identity; it begins with "/".
func (u URL) PathQuery() string { return PathQuery(u.Norm) }

// Host returns the host of a Norm or a Form, with its port if any.
func Host(norm string) string {
	host, _ := Split(norm)
	return host
}

// PathQuery returns the part after the host of a Norm or a Form.
func PathQuery(norm string) string {
	_, pathQuery := Split(norm)
	return pathQuery
}

// Split cuts a Norm or a Form after its host.
func Split(norm string) (host, pathQuery string) {
	norm = strings.TrimPrefix(norm, origin)
	for i := range len(norm) {
		if norm[i] == '/' || norm[i] == '?' {
			return norm[:i], norm[i:]
		}
	}
	return norm, ""
}

// A parseError formats its text only on demand: most errors are of links such as mailto:, and nobody
// reads them.
type parseError struct {
	reason error
	input  string
}

func (e *parseError) Error() string {
	return e.reason.Error() + ": " + strconv.QuoteToASCII(e.input)
}

func (e *parseError) Unwrap() error { return e.reason }

// refuse wraps reason with the beginning of input. It copies that, so that an error never keeps a whole
// page in memory.
func refuse(reason error, input string) error {
	const shown = 100
	if len(input) > shown {
		input = strings.ToValidUTF8(input[:shown-3], "") + "..."
	}
	return &parseError{reason, strings.Clone(input)}
}
