package warc

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

// A Capture is a page as another archive takes it from the store. It refers to no other record: a revisit is a
// response with the body that it refers to.
type Capture struct {
	URL        string
	At         time.Time
	Request    []byte // the record, in a gzip member; empty: it cannot be read
	Response   []byte // the record, in a gzip member; empty: it cannot be read
	Conversion []byte // the record, in a gzip member; empty: the page was not rendered

	entry entry
}

// Line returns the line of an index, with its end, for an archive in which the response is at an offset of a file.
func (c *Capture) Line(file string, offset int64) ([]byte, error) {
	e := c.entry
	e.Filename, e.Offset, e.Length = file, strconv.FormatInt(offset, 10), strconv.Itoa(len(c.Response))
	return e.line()
}

// A Segment reads the pages of one file of a store. It belongs to one goroutine.
type Segment struct {
	reader *Reader
	sealer Sealer
	name   string
	file   *os.File
	count  counting
	in     *bufio.Reader
	member memberReader
	peeked *memberAt // the next one; nil: it was not read yet
}

// A memberAt is a record, and where it is.
type memberAt struct {
	*Record
	from, to int64
}

// Segment opens a file of [ParsePlace].
func (r *Reader) Segment(name string) (*Segment, error) {
	if !isSegment(name) {
		return nil, fmt.Errorf("%w: %q is no file of a page store", ErrRecord, name)
	}
	f, err := os.Open(filepath.Join(r.dir, name))
	if err != nil {
		return nil, fmt.Errorf("page store: %w", err)
	}
	s := &Segment{reader: r, name: name, file: f, count: counting{r: f}}
	s.in = bufio.NewReader(&s.count)
	return s, nil
}

// Close closes the file.
func (s *Segment) Close() { _ = s.file.Close() }

// Info returns the warcinfo record that the segment begins with, in its gzip member.
func (s *Segment) Info() ([]byte, error) {
	if err := s.seek(0); err != nil {
		return nil, err
	}
	rec, err := s.next()
	if err == nil && rec.Type != "warcinfo" {
		err = ErrRecord
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	return s.raw(rec)
}

// Page returns the page whose response or revisit begins at an offset. Pages are read fastest in the order of their
// offsets, since the request is the record before.
func (s *Segment) Page(offset int64) (*Capture, error) {
	c := &Capture{}
	request, err := s.before(offset)
	if err != nil {
		return nil, err
	}
	rec, err := s.next()
	if err == nil && rec.Type != "response" && rec.Type != "revisit" {
		err = ErrRecord
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", place{s.name, offset}, err)
	}
	if c.Response, err = s.response(rec); err != nil {
		return nil, err
	}
	id := rec.Fields.Get("WARC-Record-ID")
	if request != nil && request.Fields.Get("WARC-Concurrent-To") == id {
		if c.Request, err = s.raw(request); err != nil {
			return nil, err
		}
	}
	c.URL, c.At, c.entry = rec.URL, rec.At, entryOf(rec.Record, s.name)
	c.entry.Mime = mime(rec.Header.Get("Content-Type"))
	after, err := s.next()
	if err != nil { // the next page reports it
		return c, nil
	}
	if after.Type == "conversion" && after.Fields.Get("WARC-Refers-To") == id {
		if c.Conversion, err = s.raw(after); err != nil {
			return nil, err
		}
		c.entry.Rendered = strconv.Itoa(len(c.Conversion))
		return c, nil
	}
	s.peeked = after
	return c, nil
}

// before moves to an offset, and returns the record that ends there; nil: there is none that can be read.
func (s *Segment) before(offset int64) (last *memberAt, err error) {
	for s.at() < offset {
		if last, err = s.next(); err != nil {
			last = nil
		}
		if err != nil && !errors.Is(err, errPassed) {
			break // its end is not known
		}
	}
	if s.at() == offset {
		return last, nil
	}
	return nil, s.seek(offset)
}

// at returns where the next record begins.
func (s *Segment) at() int64 {
	if s.peeked != nil {
		return s.peeked.from
	}
	return s.count.n - int64(s.in.Buffered())
}

func (s *Segment) seek(offset int64) error {
	_, err := s.file.Seek(offset, io.SeekStart)
	s.count.n, s.peeked = offset, nil
	s.in.Reset(&s.count)
	return err
}

func (s *Segment) next() (*memberAt, error) {
	if m := s.peeked; m != nil {
		s.peeked = nil
		return m, nil
	}
	from := s.at()
	rec, err := s.member.read(s.in)
	return &memberAt{rec, from, s.at()}, err
}

// raw returns the bytes of a member.
func (s *Segment) raw(m *memberAt) ([]byte, error) {
	b := make([]byte, m.to-m.from)
	if _, err := s.file.ReadAt(b, m.from); err != nil {
		return nil, fmt.Errorf("page store: %w", err)
	}
	return b, nil
}

// response returns a page as a response, in a gzip member.
func (s *Segment) response(m *memberAt) ([]byte, error) {
	if m.Type == "response" {
		return s.raw(m)
	}
	rec, err := s.reader.Page(place{s.name, m.from}.String())
	if err != nil {
		return nil, err
	}
	block := append(slices.Clip(rec.head), rec.Body...)
	f := fields{{"WARC-Type", "response"}}
	for _, name := range []string{"WARC-Record-ID", "WARC-Date", "WARC-Target-URI", "WARC-IP-Address", "WARC-Protocol",
		"WARC-Payload-Digest"} {
		for _, value := range rec.Fields.Values(name) {
			f = append(f, [2]string{name, value})
		}
	}
	return s.sealer.member(append(f, [2]string{"WARC-Block-Digest", digestText(sha256.Sum256(block))},
		[2]string{"Content-Type", "application/http;msgtype=response"}), block)
}
