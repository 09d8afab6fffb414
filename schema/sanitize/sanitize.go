// Package sanitize makes untrusted text safe to show: on a terminal, in a log, in Markdown, XML, JSON, CSV
// or SQL.
//
// One table, [dangerOf], lists the dangerous characters; one function per target decides how to replace
// them. All functions return valid UTF-8 and leave harmless text unchanged. They keep the invisible
// characters that scripts need: joiners and non-joiners, direction marks, zero-width spaces.
package sanitize

import (
	"strings"
	"unicode/utf8"
)

// A danger is what a character may do to a reader or a program.
type danger uint8

const (
	none      danger = iota
	lines            // ends a line or leaves a column
	control          // acts on a terminal
	direction        // displays text in another order than it is written in
	unread           // an invalid UTF-8 byte, or U+FFFD itself
	noText           // non-characters and annotation marks
)

// dangerOf is the table of dangers. An invalid UTF-8 byte is passed as [utf8.RuneError].
func dangerOf(r rune) danger {
	switch {
	case r >= ' ' && r <= '~':
		return none
	case r >= '\t' && r <= '\r', r == 0x85, r == 0x2028, r == 0x2029:
		return lines
	case r < ' ', r >= 0x7f && r <= 0x9f:
		return control
	case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x206f:
		return direction // embeddings, overrides, isolates, and their deprecated predecessors
	case r == utf8.RuneError:
		return unread
	case r&0xfffe == 0xfffe, r >= 0xfdd0 && r <= 0xfdef, r >= 0xfff9 && r <= 0xfffb:
		return noText
	}
	return none
}

// printable reports whether s is printable ASCII, as most text is.
func printable(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// replaced replaces unsafe characters: line breaks with a space, others with U+FFFD.
func replaced(s string, unsafe func(danger) bool) string {
	if printable(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch d := dangerOf(r); {
		case !unsafe(d):
			return r
		case d == lines:
			return ' '
		}
		return utf8.RuneError
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// Text makes text safe for a cell or an attribute of a file that programs read. Dangerous characters
// stay visible: a line break as a space, everything else as U+FFFD.
func Text(s string) string { return replaced(s, func(d danger) bool { return d != none }) }

// SQL makes text safe for a database. Line breaks stay, because a database does not lay text out.
func SQL(s string) string {
	return replaced(s, func(d danger) bool { return d != none && d != lines })
}
