// Package sitemap reads the URLs and dates that a sitemap lists.
//
// It reads the XML of sitemaps.org, both lists of URLs and indexes of further sitemaps,
// RSS and Atom feeds, and text with one URL a line; what a file is, its bytes decide, not
// its name or content type. Files may be gzipped, more than once, and in any encoding
// that browsers know. Elements in another namespace than the root's, such as those of images, are
// not read; which namespace the root has does not matter, and one that is missing does no harm.
// URLs may lack their scheme, be in quotes, or share a line.
//
// Sitemaps come from strangers. [Parse] takes linear time and a small buffer beside what
// it returns, however the file is nested, compressed or cut off; entities that a file
// declares are never expanded, and nothing is ever fetched. It keeps what can be read of
// a damaged file and counts the rest.
//
// Which of the URLs belong to an origin, and following an index (how deep, how many files,
// none twice), is the caller's.
package sitemap

import (
	"bytes"
	"errors"
	"time"
)

// ErrNotSitemap reports a file in which nothing could be read as a sitemap.
var ErrNotSitemap = errors.New("not a sitemap")

// Kind is the format of a file.
type Kind uint8

const (
	Unknown Kind = iota
	URLSet       // sitemaps.org, URLs
	Index        // sitemaps.org, sitemaps
	Text         // one URL a line
	RSS          // any version, RDF included
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

// An Entry is one URL that a sitemap lists.
type Entry struct {
	Loc        string    // absolute, http or https, without blanks around; as written otherwise, not normalised
	LastMod    time.Time // in UTC; zero when missing or no date
	ChangeFreq string    // always, hourly, daily, weekly, monthly, yearly, never, or ""
}

// A File is what one sitemap says, in its order. A urlset can have children and an index
// entries, if they hold the other's elements.
type File struct {
	Kind      Kind
	Entries   []Entry // pages
	Children  []Entry // further sitemaps
	Truncated bool    // the file was cut off, by its server or by a limit: there is more
}

// Limits bound what is read. A limit of zero or less is that of [DefaultLimits].
type Limits struct {
	Bytes   int64 // of one file, decompressed, and of the URLs that it names
	Entries int   // of one file, pages and sitemaps together
	Depth   int   // of indexes in indexes; kept by the caller, who follows them
}

// DefaultLimits returns the bounds of the sitemaps.org protocol, and a depth that no
// honest site needs.
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

// Parse reads a sitemap that was fetched from base, which relative URLs are resolved
// against, with this Content-Type, of which only the charset counts. The error is
// [ErrNotSitemap], and only when there is nothing to keep: a sitemap without entries is
// none. The body is not kept.
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
		// Perhaps XML after a warning of the script that writes it.
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
	room   int64 // for URLs: those that a file leaves its own address out of may be longer than it by far
}

// full reports that no further entry is taken.
func (l *list) full() bool { return l.room <= 0 || len(l.file.Entries)+len(l.file.Children) >= l.limit }

// add takes a finished entry.
func (l *list) add(e Entry, child bool) {
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
