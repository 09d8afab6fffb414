// Package sitemap reads the URLs and dates listed in a sitemap.
//
// It reads the XML of sitemaps.org, both lists of URLs and indexes of sitemaps, RSS and Atom feeds, and text
// with one URL per line; the format is determined from the bytes, not from the name or content type. Files
// may be gzipped, even repeatedly, and in any encoding that browsers know. Elements in another namespace than
// the root's, such as those of images, are ignored; which namespace the root has, or whether it has one, does
// not matter. URLs may lack their scheme, be in quotes, or share a line.
//
// Sitemaps are untrusted. [Parse] takes linear time, and a small buffer in addition to its result, however
// the file is nested, compressed or truncated; entities declared in a file are never expanded, and nothing is
// ever fetched. It keeps what is readable in a damaged file and counts the rest.
//
// The caller decides which URLs belong to an origin, and follows indexes (how deep, how many files, none
// twice).
package sitemap

import (
	"bytes"
	"errors"
	"strings"
	"time"
	"unicode/utf8"
)

// ErrNotSitemap reports a file in which nothing could be read as a sitemap.
var ErrNotSitemap = errors.New("not a sitemap")

// Kind is the format of a file.
type Kind uint8

const (
	Unknown Kind = iota
	URLSet       // sitemaps.org, of URLs
	Index        // sitemaps.org, of sitemaps
	Text         // one URL per line
	RSS          // any version, including RDF
	Atom
)

func (k Kind) String() string {
	switch k {
	case URLSet:
		return "urlset"
	case Index:
		return "index"
	case Text:
		return "text"
	case RSS:
		return "rss"
	case Atom:
		return "atom"
	}
	return "unknown"
}

// An Entry is one URL listed in a sitemap.
type Entry struct {
	Loc        string    // absolute, http or https, without surrounding blanks; otherwise as written, not normalised
	LastMod    time.Time // in UTC; zero if missing or invalid
	ChangeFreq string    // always, hourly, daily, weekly, monthly, yearly, never, or ""
}

// A File is the content of one sitemap, in order. A urlset can have children and an index entries, if they
// contain the other's elements.
type File struct {
	Kind      Kind
	Entries   []Entry // pages
	Children  []Entry // further sitemaps
	Truncated bool    // the file was cut off, by its server or by a limit: there is more
}

// Limits limit what is read. A limit of zero or less means that of [DefaultLimits].
type Limits struct {
	Bytes   int64 // of one file, decompressed, and of the URLs in it
	Entries int   // of one file, pages and sitemaps together
	Depth   int   // of nested indexes; enforced by the caller, which follows them
}

// DefaultLimits returns the limits of the sitemaps.org protocol, and a depth that no honest site needs.
func DefaultLimits() Limits { return Limits{Bytes: 50 << 20, Entries: 50_000, Depth: 16} }

func (l Limits) orDefault() Limits {
	d := DefaultLimits()
	if l.Bytes <= 0 {
		l.Bytes = d.Bytes
	}
	if l.Entries <= 0 {
		l.Entries = d.Entries
	}
	return l
}

// Parse parses a sitemap fetched from base, against which relative URLs are resolved. Of contentType only the
// charset counts. The error is [ErrNotSitemap], and occurs only if there is nothing to keep: a sitemap
// without entries is not an error if its format is recognized. The body is not retained.
func Parse(body []byte, base string, contentType string, lim Limits) (File, error) {
	lim = lim.orDefault()
	in := open(body, contentType, lim.Bytes)
	l := list{locate: newLocator(base), limit: lim.Entries, room: lim.Bytes}
	if in.first() != '<' {
		if l.readText(in); len(l.file.Entries) > 0 {
			return l.file, nil
		}
		if bytes.IndexByte(body, '<') < 0 && !isGzip(body) {
			return File{}, ErrNotSitemap
		}
		// It may be XML after a warning of the script that generates it.
		in = open(body, contentType, lim.Bytes)
		l = list{locate: l.locate, limit: lim.Entries, room: lim.Bytes}
	}
	l.readXML(in)
	if l.file.Kind == Unknown && len(l.file.Entries)+len(l.file.Children) == 0 {
		return File{}, ErrNotSitemap
	}
	return l.file, nil
}

// A list collects entries up to a limit.
type list struct {
	file   File
	locate locator
	limit  int
	room   int64 // bytes for URLs, because relative ones may become much longer than the file
}

// full reports that no further entry is accepted.
func (l *list) full() bool { return l.room <= 0 || len(l.file.Entries)+len(l.file.Children) >= l.limit }

// add adds a complete entry. It skips a URL with a character that could not be decoded, because the file means
// another one.
func (l *list) add(e Entry, child bool) {
	if strings.ContainsRune(e.Loc, utf8.RuneError) {
		return
	}
	if l.full() {
		l.file.Truncated = true
		return
	}
	l.room -= int64(len(e.Loc))
	if child {
		l.file.Children = append(l.file.Children, e)
	} else {
		l.file.Entries = append(l.file.Entries, e)
	}
}
