// Package inert makes text that others wrote mean nothing but itself, wherever it
// is shown: on a terminal, in a log, in Markdown, XML, JSON, CSV or SQL.
//
// What is dangerous stands in one table, [dangerOf]; a function a target says what
// becomes of it there. All of them return valid UTF-8, are the identity on harmless
// text, and keep what scripts are written with though it is not seen: joiners and
// non-joiners, marks of direction, zero-width spaces.
package inert

import (
	"strings"
	"unicode/utf8"
)

// A danger is what a character may do to its reader, or to a program.
type danger uint8

const (
	none      danger = iota
	lines            // ends a line or leaves a column
	control          // acts on a terminal
	direction        // has text read in another order than it is written in
	unread           // a byte that was not UTF-8, and the character that stands for it
	noText           // stands for nothing: non-characters and marks of annotations
)

// dangerOf is the table. A byte that is not UTF-8 comes as [utf8.RuneError].
func dangerOf(r rune) danger {
	switch {
	case r >= ' ' && r <= '~':
		return none
	case r >= '\t' && r <= '\r', r == 0x85, r == 0x2028, r == 0x2029:
		return lines
	case r < ' ', r >= 0x7f && r <= 0x9f:
		return control
	case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x206f:
		return direction // embeddings, overrides, isolates and what came before these
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

// replaced maps what the table names: a line break becomes a space, what is unsafe
// for a target U+FFFD.
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

// Text makes text fit for a cell or an attribute of a file that programs read. What
// was dangerous stays visible: a line break as a space, everything else as U+FFFD.
func Text(s string) string { return replaced(s, func(d danger) bool { return d != none }) }

// SQL makes text fit for a database, which is no place to lay it out: line breaks
// stay.
func SQL(s string) string {
	return replaced(s, func(d danger) bool { return d != none && d != lines })
}
