// Package preference reads what owners say about the use of their pages.
//
// They say it in robots.txt, in header fields and in elements of a page, in the words of three vocabularies, see
// [Field]. A [Statement] is one of these, as written. Several statements about one page are combined by [Applied]:
// the most restrictive one counts. What they say changes nothing else about a crawl, except that a page that must
// not be stored is not in the page store.
//
// Statements are untrusted. They are stored cleaned and cut: a value to [MaxValue] bytes, all statements about a
// page, or in a robots.txt, to [MaxText]. Keys that a vocabulary knows are cut last.
package preference

import (
	"strings"

	"github.com/sumi-ripple/ripple/schema/sanitize"
)

// The limits of stored statements, in bytes.
const (
	MaxValue = 512
	MaxText  = 2048
)

// A Field is the vocabulary of a statement.
type Field uint8

// The fields.
const (
	ContentUsage  Field = iota // a dictionary of y and n (draft-ietf-aipref-attach, draft-ietf-aipref-vocab)
	ContentSignal              // a list of yes and no, and use (contentsignals.org)
	License                    // the address of a licence (RSL; the link relation license of RFC 4946)
	fieldCount
)

// String returns the name of the field as written in robots.txt and headers.
func (f Field) String() string {
	switch f {
	case ContentUsage:
		return "Content-Usage"
	case ContentSignal:
		return "Content-Signal"
	}
	return "License"
}

// FieldOf returns the field with a name, in any case.
func FieldOf(name string) (Field, bool) {
	for f := range fieldCount {
		if strings.EqualFold(name, f.String()) {
			return f, true
		}
	}
	return 0, false
}

// A Source is where a statement is made.
type Source uint8

// The sources.
const (
	Robots Source = iota
	Header
	Element
	sourceCount
)

// String returns a word for the source.
func (s Source) String() string {
	switch s {
	case Header:
		return "header"
	case Element:
		return "element"
	}
	return "robots.txt"
}

// A Statement is what an owner says in one place.
type Statement struct {
	Source Source
	Field  Field
	Path   string // in robots.txt: that it is about; empty: the whole host
	Value  string // as written
}

// String returns the statement as a line.
func (s Statement) String() string { return s.Source.String() + ": " + s.Written() }

// Union returns the statements of two texts.
func Union(a, b string) string { return Text(append(Parse(a), Parse(b)...)...) }

// Written returns the statement as written in its place, without the name of the place.
func (s Statement) Written() string {
	said := s.Field.String() + ": "
	if s.Path != "" {
		said += s.Path + " "
	}
	return said + s.Value
}

// Text returns statements as text, one a line, each once. Statements without a value are left out. If the text would
// be longer than [MaxText], the statements that decide about keys of a vocabulary are kept, then the first ones.
func Text(statements ...Statement) string {
	var lines []string
	seen := map[string]bool{}
	size := 0
	for _, s := range statements {
		s.Path = sanitize.Line(s.Path, MaxValue)
		s.Value = shortened(s.Field, s.Value)
		line := s.String()
		if s.Value == "" || seen[line] {
			continue
		}
		seen[line] = true
		size += len(line) + 1
		lines = append(lines, line)
	}
	if size > MaxText {
		lines = fitting(lines)
	}
	return strings.Join(lines, "\n")
}

// Written returns the statements of a text as written in their places, one a line.
func Written(text string) string {
	var lines []string
	for _, s := range Parse(text) {
		lines = append(lines, s.Written())
	}
	return strings.Join(lines, "\n")
}

// Parse returns the statements of a text. It leaves out what is not a statement.
func Parse(text string) (statements []Statement) {
	for line := range strings.SplitSeq(text, "\n") {
		if s, ok := parseLine(line); ok {
			statements = append(statements, s)
		}
	}
	return statements
}

func parseLine(line string) (s Statement, ok bool) {
	where, rest, _ := strings.Cut(line, ": ")
	name, said, ok := strings.Cut(rest, ": ")
	if !ok {
		return s, false
	}
	if s.Field, ok = FieldOf(name); !ok {
		return s, false
	}
	for s.Source = range sourceCount {
		if s.Source.String() == where {
			s.Path, s.Value = "", said
			if s.Source == Robots {
				s.Path, s.Value = CutPath(s.Field, said)
			}
			return s, s.Value != ""
		}
	}
	return s, false
}

// CutPath separates the value of a line of robots.txt from the path before it, if there is one.
func CutPath(f Field, said string) (path, value string) {
	if f != License && said != "" && (said[0] == '/' || said[0] == '*') {
		if i := strings.IndexAny(said, " \t"); i >= 0 {
			return said[:i], strings.Trim(said[i:], " \t")
		}
		return said, ""
	}
	return "", said
}

// From returns the statements of a text that come from a source.
func From(text string, source Source) (statements []Statement) {
	for _, s := range Parse(text) {
		if s.Source == source {
			statements = append(statements, s)
		}
	}
	return statements
}
