package archive

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"strconv"
	"strings"
)

// An Answer is what a server answered, as the block of a record holds it.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte // as the server encoded it, without the framing of HTTP/1; see [Reader.Body]
}

// Answer reads the header of the answer that the last record holds. A resource and a conversion hold a document alone:
// they read as an answer with status 200 and the type that the record declares.
func (r *Reader) Answer(rec *Record) (*Answer, error) {
	if rec.Type == "resource" || rec.Type == "conversion" {
		a := &Answer{Status: http.StatusOK, Header: http.Header{}}
		if kind := rec.Fields.Get("Content-Type"); kind != "" {
			a.Header.Set("Content-Type", kind)
		}
		return a, nil
	}
	r.block.Reset(r)
	head := headReader{in: r.block, room: maxHead}
	line, err := head.line()
	if err != nil {
		return nil, err
	}
	a := &Answer{}
	if a.Status, err = parseStatus(string(line)); err != nil {
		return nil, err
	}
	a.Header, err = head.fields()
	return a, err
}

func parseStatus(line string) (int, error) {
	parts := strings.Fields(line)
	if len(parts) >= 2 && strings.HasPrefix(parts[0], "HTTP/") {
		if status, err := strconv.Atoi(parts[1]); err == nil && status >= 100 && status <= 999 {
			return status, nil
		}
	}
	return 0, fmt.Errorf("%w: it holds no answer", ErrRecord)
}

// maxGrown is how many bytes of a body's memory are reserved before it is read.
const maxGrown = 1 << 20

// Body reads the body of the answer that Answer has returned last, at most most bytes of it, and ends the record.
//
// Archives differ in what they keep: if a body does not begin like the chunks or the gzip stream that its header
// declares, it is taken as it is.
func (r *Reader) Body(rec *Record, a *Answer, most int64) error {
	from := io.Reader(r)
	if rec.Type != "resource" && rec.Type != "conversion" {
		from = r.block
	}
	var b bytes.Buffer
	b.Grow(int(min(r.left+int64(r.block.Buffered()), most, maxGrown)) + bytes.MinRead)
	_, err := io.Copy(&b, io.LimitReader(from, most))
	if err := errors.Join(err, r.End()); err != nil {
		return err
	}
	a.Body = b.Bytes()
	if strings.Contains(strings.ToLower(a.Header.Get("Transfer-Encoding")), "chunked") && beginsChunk(a.Body) {
		a.Body = unchunk(a.Body)
	}
	if coding := strings.ToLower(a.Header.Get("Content-Encoding")); strings.Contains(coding, "gzip") &&
		!bytes.HasPrefix(a.Body, gzipped.begin()[:2]) {
		a.Header.Del("Content-Encoding")
	}
	return nil
}

// beginsChunk reports whether a body begins with the size of a chunk (RFC 9112 section 7.1).
func beginsChunk(body []byte) bool {
	line, _, ok := bytes.Cut(body[:min(len(body), 64)], []byte("\n"))
	size, _, _ := bytes.Cut(bytes.TrimSpace(line), []byte(";"))
	_, err := strconv.ParseUint(string(bytes.TrimSpace(size)), 16, 63)
	return ok && err == nil
}

// unchunk returns what chunks hold, as far as they can be read.
func unchunk(body []byte) []byte {
	whole, _ := io.ReadAll(httputil.NewChunkedReader(bufio.NewReader(bytes.NewReader(body))))
	return whole
}
