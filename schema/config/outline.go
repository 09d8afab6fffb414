package config

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// Limits on the shape of a file. The decoder recurses for each bracket, takes quadratic time for dotted
// keys and keeps a record of each statement.
const (
	maxNesting    = 16
	maxDots       = 8
	maxStatements = 100_000
)

// An outline knows the line on which each table and key of a TOML text begins, by the paths of
// [Problem]. It is lenient: invalid TOML is left for the decoder to report.
type outline struct {
	text   []byte
	pos    int
	line   int
	prefix string         // path of the current table
	arrays map[string]int // number of [[name]] headers so far
	lines  map[string]int
	count  int // statements
}

// scan returns the outline of a text, or the limit that its shape exceeds.
func scan(text []byte, stored bool) (*outline, *Problem) {
	o := &outline{text: text, line: 1, arrays: map[string]int{}, lines: map[string]int{}}
	for o.skipBlank() {
		start, line := o.pos, o.line
		if reason := o.skipStatement(); reason != "" {
			return nil, &Problem{Line: o.line, Text: reason}
		}
		if o.count++; o.count > maxStatements && !stored {
			return nil, &Problem{Line: o.line, Text: fmt.Sprintf("more than %d keys and tables", maxStatements)}
		}
		o.record(string(firstPart(text[start:o.pos])), line)
	}
	return o, nil
}

// at returns the line of a path, or of the nearest enclosing table, or 0.
func (o *outline) at(path string) int {
	for path != "" {
		if line, ok := o.lines[path]; ok {
			return line
		}
		if line, ok := o.lines[entryPath(path, 0)]; ok { // the line of an array of tables is that of its first one
			return line
		}
		path = path[:max(0, strings.LastIndexByte(path, '.'))]
	}
	return 0
}

// skipBlank moves to the next statement and reports whether there is one.
func (o *outline) skipBlank() bool {
	for ; o.pos < len(o.text); o.pos++ {
		switch o.text[o.pos] {
		case '\n':
			o.line++
		case ' ', '\t', '\r':
		case '#':
			o.skipComment()
			o.pos--
		default:
			return true
		}
	}
	return false
}

// skipComment moves to the end of the line.
func (o *outline) skipComment() {
	if n := bytes.IndexByte(o.text[o.pos:], '\n'); n >= 0 {
		o.pos += n
	} else {
		o.pos = len(o.text)
	}
}

// skipStatement moves to the end of the line on which no bracket or string is open.
func (o *outline) skipStatement() (reason string) {
	depth, dots := 0, 0
	for ; o.pos < len(o.text); o.pos++ {
		switch o.text[o.pos] {
		case '"', '\'':
			o.skipString()
		case '#':
			o.skipComment()
			o.pos--
		case '\n':
			if depth == 0 {
				return ""
			}
			o.line++
			dots = 0
		case '[', '{':
			depth, dots = depth+1, 0
			if depth > maxNesting {
				return "brackets are nested too deep"
			}
		case ']', '}':
			depth, dots = max(0, depth-1), 0
		case '=', ',':
			dots = 0
		case '.':
			if dots++; dots > maxDots {
				return "a key has too many dots"
			}
		}
	}
	o.pos = len(o.text) // an open string may have moved one too far
	return ""
}

// skipString moves to the closing quote of a string. If the string is not closed on its line, it moves
// to just before the end of the line.
func (o *outline) skipString() {
	quote := o.text[o.pos]
	if triple := []byte{quote, quote, quote}; bytes.HasPrefix(o.text[o.pos:], triple) {
		o.skipLong(quote, triple)
		return
	}
	for o.pos++; o.pos < len(o.text); o.pos++ {
		switch c := o.text[o.pos]; {
		case c == quote:
			return
		case c == '\n':
			o.pos--
			return
		case c == '\\' && quote == '"' && o.pos+1 < len(o.text) && o.text[o.pos+1] != '\n':
			o.pos++
		}
	}
}

func (o *outline) skipLong(quote byte, triple []byte) {
	for o.pos += len(triple); o.pos < len(o.text); o.pos++ {
		switch c := o.text[o.pos]; {
		case c == '\n':
			o.line++
		case c == '\\' && quote == '"' && o.pos+1 < len(o.text) && o.text[o.pos+1] != '\n':
			o.pos++
		case c == quote && bytes.HasPrefix(o.text[o.pos:], triple):
			o.pos += len(triple) - 1
			for n := 0; n < 2 && o.pos+1 < len(o.text) && o.text[o.pos+1] == quote; n++ {
				o.pos++ // a string may end with quotes of its own
			}
			return
		}
	}
}

// firstPart returns the statement before its first equals sign. A quoted key that contains one
// therefore gets no line of its own.
func firstPart(statement []byte) []byte {
	const longest = 256
	part, _, _ := bytes.Cut(statement[:min(len(statement), longest)], []byte("="))
	return part
}

// record stores the line of a header or key.
func (o *outline) record(head string, line int) {
	path := o.prefix
	if name, ok := strings.CutPrefix(head, "["); ok {
		inner, isArray := strings.CutPrefix(name, "[")
		inner, _, _ = strings.Cut(inner, "]")
		path = keyPath(inner)
		if isArray {
			n := o.arrays[path]
			o.arrays[path]++
			path += "[" + strconv.Itoa(n) + "]"
		}
		o.prefix = path
	} else {
		path = join(path, keyPath(head))
	}
	if _, ok := o.lines[path]; !ok {
		o.lines[path] = line
	}
}

// keyPath removes spaces and quotes from a dotted key.
func keyPath(written string) string {
	parts := strings.Split(written, ".")
	for i, p := range parts {
		parts[i] = strings.Trim(p, " \t\r\n\"'")
	}
	return strings.Join(parts, ".")
}

func join(table, key string) string {
	if table == "" {
		return key
	}
	return table + "." + key
}
