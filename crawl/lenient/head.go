package lenient

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// maxSlop is how many bytes may precede a status line.
const maxSlop = 4

// framing is what a head says about the length of its answer.
type framing struct {
	status  int
	chunked bool
	length  int64 // -1: until the end of the connection
	close   bool  // the connection serves no further request
}

// headEnd returns the length of the head at the start of b; -1: it is incomplete.
func headEnd(b []byte) int {
	for at := 0; ; {
		i := bytes.IndexByte(b[at:], '\n')
		if i < 0 {
			return -1
		}
		at += i + 1
		if rest := b[at:]; len(rest) > 0 && rest[0] == '\n' {
			return at + 1
		} else if len(rest) > 1 && rest[0] == '\r' && rest[1] == '\n' {
			return at + 2
		}
	}
}

// endsHead reports whether the last line of b ends a head.
func endsHead(b []byte) bool {
	return bytes.HasSuffix(b, []byte("\n\r\n")) || bytes.HasSuffix(b, []byte("\n\n"))
}

// plainHead parses a complete head that needs no repair.
func plainHead(head []byte) (f framing, ok bool) {
	const status = "HTTP/1.1 200"
	line, rest := cutLine(head)
	if len(line) < len(status) || string(line[:7]) != status[:7] || line[7] != '0' && line[7] != '1' || line[8] != ' ' ||
		!isNumber(line[9:12]) || len(line) > 12 && line[12] != ' ' || !isText(line) {
		return f, false
	}
	f.status = int(line[9]-'0')*100 + int(line[10]-'0')*10 + int(line[11]-'0')
	f.length = -1
	for {
		line, rest = cutLine(rest)
		if len(line) == 0 {
			return f, !f.chunked || f.length < 0
		}
		colon := bytes.IndexByte(line, ':')
		if colon <= 0 || !isToken(line[:colon]) || !isText(line[colon:]) || len(rest) == 0 || isBlank(rest[0]) ||
			!f.field(line[:colon], line[colon+1:], head[7] == '1') {
			return f, false
		}
	}
}

// field records what a field says about the framing. It reports whether the field needs no repair.
func (f *framing) field(name, value []byte, modern bool) (ok bool) {
	switch len(name) {
	case len("Trailer"):
		return !bytes.EqualFold(name, []byte("Trailer"))
	case len("Content-Length"):
		if !bytes.EqualFold(name, []byte("Content-Length")) {
			return true
		}
		if value = bytes.Trim(value, blanks); f.length >= 0 || len(value) > 18 || !isNumber(value) {
			return false
		}
		f.length, _ = strconv.ParseInt(string(value), 10, 64)
	case len("Transfer-Encoding"):
		if !bytes.EqualFold(name, []byte("Transfer-Encoding")) {
			return true
		}
		if f.chunked || !modern || !bytes.EqualFold(bytes.Trim(value, blanks), []byte("chunked")) {
			return false
		}
		f.chunked = true
	}
	return true
}

// mended rewrites a head. It is not ok if browsers refuse the head, too.
func mended(head []byte) (out []byte, f framing, ok bool) {
	start := statusStart(head)
	if start < 0 || bytes.IndexByte(head, 0) >= 0 {
		return nil, f, false
	}
	m := mending{framing: framing{length: -1, close: hasBareCR(head)}}
	lines := strings.FieldsFunc(string(head[start:]), func(c rune) bool { return c == '\r' || c == '\n' })
	if !m.statusLine(lines[0]) {
		return nil, f, false
	}
	for _, line := range unfolded(lines[1:]) {
		m.field(line)
	}
	if !m.frame() {
		return nil, f, false
	}
	return append(m.out, "\r\n"...), m.framing, true
}

// A mending is a head being rewritten.
type mending struct {
	framing
	out     []byte
	modern  bool     // HTTP/1.1
	lengths []string // Content-Length
	codings []string // Transfer-Encoding
}

// statusLine parses a status line like Chromium, with defaults for missing parts.
func (m *mending) statusLine(line string) (ok bool) {
	major, minor := version(line)
	m.modern = major > 1 || major == 1 && minor >= 1
	_, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimLeft(rest, " ")
	digits := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
	reason := strings.Trim(rest[len(digits):], " ")
	if digits == "" {
		digits, reason = "200", ""
	}
	n, err := strconv.Atoi(digits)
	if err != nil || n > 999 {
		return false
	}
	m.status = n
	m.out = append(m.out, "HTTP/1.0 "...)
	if m.modern {
		m.out[len("HTTP/1.")] = '1'
	}
	code := strconv.Itoa(1000 + n)
	m.out = append(m.out, code[1:]...)
	if reason != "" && isText([]byte(reason)) {
		m.out = append(append(m.out, ' '), reason...)
	}
	m.out = append(m.out, "\r\n"...)
	return true
}

// field keeps a line that is a field.
func (m *mending) field(line string) {
	name, value, ok := strings.Cut(line, ":")
	if !ok || name == "" || isBlank(name[0]) {
		return
	}
	spaced := len(name)
	name, value = strings.TrimRight(name, blanks), strings.Trim(value, blanks)
	spaced -= len(name)
	if !isToken([]byte(name)) {
		return
	}
	switch strings.ToLower(name) {
	case "content-length":
		m.lengths = append(m.lengths, elements(value)...)
		m.close = m.close || spaced > 0 || len(m.lengths) != 1
		return
	case "transfer-encoding":
		m.close = m.close || spaced > 0 || len(m.codings) > 0
		m.codings = append(m.codings, elements(value)...)
		return
	case "trailer":
		return
	case "location":
		value = escaped(value)
	default:
		if !isText([]byte(value)) {
			return
		}
	}
	m.write(name, value)
}

// escaped escapes control characters, which the transport refuses, as browsers do in a URL.
func escaped(url string) string {
	if isText([]byte(url)) {
		return url
	}
	var b strings.Builder
	for i := range len(url) {
		if c := url[i]; isText([]byte{c}) {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

func (m *mending) write(name, value string) {
	m.out = append(append(append(append(m.out, name...), ": "...), value...), "\r\n"...)
}

// frame determines the length of the answer. It is not ok if the head gives several.
func (m *mending) frame() (ok bool) {
	isChunked := func(coding string) bool { return strings.EqualFold(coding, "chunked") }
	m.chunked = m.modern && slices.ContainsFunc(m.codings, isChunked)
	if len(m.codings) > 0 && (!m.chunked || len(m.codings) > 1 || len(m.lengths) > 0) {
		m.close = true
	}
	switch {
	case m.chunked:
		m.write("Transfer-Encoding", "chunked")
	case len(m.lengths) > 0:
		first := m.lengths[0]
		if slices.ContainsFunc(m.lengths, func(length string) bool { return length != first }) {
			return false
		}
		if n, err := strconv.ParseUint(first, 10, 62); err == nil {
			m.length = int64(n)
			m.write("Content-Length", strconv.FormatUint(n, 10))
		}
	}
	if m.length < 0 && !m.chunked {
		m.close = true
	}
	if m.close {
		m.write("Connection", "close")
	}
	return true
}

// statusStart finds the status line at the start of a head; -1: there is none.
func statusStart(head []byte) int {
	if bytes.HasPrefix(head, []byte("ICY ")) {
		return 0
	}
	for i := 0; i <= maxSlop && i+4 <= len(head); i++ {
		if bytes.EqualFold(head[i:i+4], []byte("HTTP")) {
			return i
		}
	}
	return -1
}

// version parses the version of a status line; an unreadable one is 0.0.
func version(line string) (major, minor byte) {
	if len(line) < 5 || line[4] != '/' {
		return 0, 0
	}
	dot := strings.IndexByte(line, '.')
	if dot < 0 || dot+1 == len(line) || !isDigit(line[5]) || !isDigit(line[dot+1]) {
		return 0, 0
	}
	return line[5] - '0', line[dot+1] - '0'
}

// unfolded joins continuation lines to their fields.
func unfolded(lines []string) []string {
	var fields []string
	continues := false // whether the last field can be continued
	for _, line := range lines {
		if continues && isBlank(line[0]) {
			last := len(fields) - 1
			fields[last] += " " + strings.TrimLeft(line, blanks)
			continue
		}
		fields = append(fields, line)
		continues = strings.IndexByte(line, ':') > 0 && !isBlank(line[0])
	}
	return fields
}

// elements returns the elements of a list, at least one.
func elements(list string) []string {
	if list == "" {
		return []string{""}
	}
	var found []string
	for element := range strings.SplitSeq(list, ",") {
		if element = strings.Trim(element, blanks); element != "" {
			found = append(found, element)
		}
	}
	return found
}

// hasBareCR reports a CR without a following LF.
func hasBareCR(b []byte) bool {
	for {
		i := bytes.IndexByte(b, '\r')
		if i < 0 {
			return false
		}
		if b = b[i+1:]; len(b) == 0 || b[0] != '\n' {
			return true
		}
	}
}

// cutLine cuts off a line and returns it without its line end.
func cutLine(b []byte) (line, rest []byte) {
	line, rest, _ = bytes.Cut(b, []byte("\n"))
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	return line, rest
}

const blanks = " \t"

func isBlank(c byte) bool { return c == ' ' || c == '\t' }
func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isNumber(b []byte) bool {
	for _, c := range b {
		if !isDigit(c) {
			return false
		}
	}
	return len(b) > 0
}

// isText reports text allowed in a field (RFC 9110, section 5.5).
func isText(b []byte) bool {
	for _, c := range b {
		if c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

// isToken reports a token (RFC 9110, section 5.6.2).
func isToken(b []byte) bool {
	for _, c := range b {
		if !token[c] {
			return false
		}
	}
	return len(b) > 0
}

// token contains the characters allowed in a token.
var token = [256]bool{
	'!': true, '#': true, '$': true, '%': true, '&': true, '\'': true, '*': true, '+': true, '-': true, '.': true,
	'^': true, '_': true, '`': true, '|': true, '~': true,
	'0': true, '1': true, '2': true, '3': true, '4': true, '5': true, '6': true, '7': true, '8': true, '9': true,
	'A': true, 'B': true, 'C': true, 'D': true, 'E': true, 'F': true, 'G': true, 'H': true, 'I': true, 'J': true,
	'K': true, 'L': true, 'M': true, 'N': true, 'O': true, 'P': true, 'Q': true, 'R': true, 'S': true, 'T': true,
	'U': true, 'V': true, 'W': true, 'X': true, 'Y': true, 'Z': true,
	'a': true, 'b': true, 'c': true, 'd': true, 'e': true, 'f': true, 'g': true, 'h': true, 'i': true, 'j': true,
	'k': true, 'l': true, 'm': true, 'n': true, 'o': true, 'p': true, 'q': true, 'r': true, 's': true, 't': true,
	'u': true, 'v': true, 'w': true, 'x': true, 'y': true, 'z': true,
}
