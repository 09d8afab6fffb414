package page

import (
	"net/http"
	"strings"

	"github.com/sumi-ripple/ripple/schema/preference"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// maxLicenses is the number of licences kept from the header of an answer, and from its elements.
const maxLicenses = 10

// headerPreferences returns what the header of an answer from base says about the use of the page: in its fields
// Content-Usage and Content-Signal, and in Link with rel=license.
func headerPreferences(header http.Header, base *weburl.Base, self string) []preference.Statement {
	var said []preference.Statement
	add := func(field preference.Field, value string) {
		said = append(said, preference.Statement{Source: preference.Header, Field: field, Value: value})
	}
	for _, field := range []preference.Field{preference.ContentUsage, preference.ContentSignal} {
		if values := header.Values(field.String()); len(values) > 0 {
			add(field, strings.Join(values, ", "))
		}
	}
	licenses := 0
	for l := range linked(header, base, self) {
		if !hasWord([]byte(l.rel), "license") {
			continue
		}
		if u, ok := absolute(l.target, base); ok && licenses < maxLicenses {
			add(preference.License, u)
			licenses++
		}
	}
	return said
}

// license notes a <link rel=license>.
func (e *Extractor) license(target []byte) {
	if len(e.licenses) < maxLicenses {
		e.licenses = append(e.licenses, attributeValue(string(target)))
	}
}

// preferences returns what the header of the answer and the elements of the page say about its use.
func (e *Extractor) preferences(base *weburl.Base) string {
	said := e.said
	for _, target := range e.licenses {
		if u, ok := absolute(target, base); ok {
			said = append(said, preference.Statement{Source: preference.Element, Field: preference.License, Value: u})
		}
	}
	return preference.Text(said...)
}
