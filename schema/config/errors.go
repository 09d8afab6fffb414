package config

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// maxProblems is how many violated rules are listed one by one.
const maxProblems = 200

// Errors lists all rules that a configuration violates, ordered by line.
type Errors struct {
	Path string // as given by the caller
	List []Problem

	more  int   // problems beyond maxProblems
	cause error // why the file could not be read, or nil
}

// A Problem is one violated rule.
type Problem struct {
	Line int    // 0: not tied to a line
	Key  string // "crawler.max-depth", "quality[1].seeds"; may be empty
	Text string
}

// Error returns one line for each problem: `config.toml:12: unknown key ...`.
func (e *Errors) Error() string {
	var b strings.Builder
	for i, p := range e.List {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(e.Path)
		if p.Line > 0 {
			b.WriteString(":" + strconv.Itoa(p.Line))
		}
		b.WriteString(": " + p.Text)
	}
	if e.more > 0 {
		fmt.Fprintf(&b, "\n%s: and %d more like these", e.Path, e.more)
	}
	return b.String()
}

// Unwrap returns why the file could not be read, or nil.
func (e *Errors) Unwrap() error { return e.cause }

func (e *Errors) add(p Problem) {
	if len(e.List) == maxProblems {
		e.more++
		return
	}
	e.List = append(e.List, p)
}

// orNil returns the problems sorted by line, or nil if there are none.
func (e *Errors) orNil() error {
	if len(e.List) == 0 {
		return nil
	}
	slices.SortStableFunc(e.List, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	return e
}

// A Notice is a warning: the configuration is valid, but may not do what its author expects. It begins
// like a line of [Errors]: `config.toml:12: `.
type Notice string

// quote formats a value for a message: on one line, without control characters, cut to length.
func quote(s string) string {
	const most = 100
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "..."
	}
	return strconv.Quote(s)
}
