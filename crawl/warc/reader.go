package warc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/textproto"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
)

// ErrRecord reports data that is not a valid record of a page store.
var ErrRecord = errors.New("no readable WARC record")

const (
	maxHead  = 256 << 10 // bytes of the header of a record, and of an HTTP header in it
	maxBlock = 1 << 30
	maxGrown = 1 << 20 // bytes of a block whose memory is reserved before it is read
)

// A Record is one complete record of a page store.
type Record struct {
	Type   string
	Fields http.Header // canonical names
	URL    string
	At     time.Time
	Status int         // of a response or revisit
	Header http.Header // of a response or revisit
	Body   []byte      // of a response, or of a resolved revisit

	head []byte // of a response or revisit, as it is in the block
}

// A Reader reads records by place. It is safe for concurrent use.
type Reader struct{ dir string }

// NewReader returns a reader of the page stores in a folder.
func NewReader(dir string) *Reader { return &Reader{dir} }

// Page returns the page at a place returned by [Writer.Append]. A revisit gets the body of the record it
// refers to.
func (r *Reader) Page(at string) (*Record, error) {
	p, err := parsePlace(at)
	if err != nil {
		return nil, err
	}
	rec, err := r.at(p)
	if err != nil || rec.Type != "revisit" {
		return rec, err
	}
	offset, err := strconv.ParseInt(rec.Fields.Get("WARC-Refers-To-File-Offset"), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: a revisit of nothing", at, ErrRecord)
	}
	of, err := parsePlace(place{rec.Fields.Get("WARC-Refers-To-Filename"), offset}.String())
	if err != nil {
		return nil, err
	}
	first, err := r.at(of)
	if err != nil {
		return nil, err
	}
	digest := Digest(first.Fields.Get("WARC-Payload-Digest"))
	if first.Type != "response" || digest != Digest(rec.Fields.Get("WARC-Payload-Digest")) {
		return nil, fmt.Errorf("%s: %w: what it revisits is not there", at, ErrRecord)
	}
	rec.Body = first.Body
	return rec, nil
}

// Rendered returns the rendered document of the page at a place returned by [Writer.Append].
func (r *Reader) Rendered(at string) (*Rendered, error) {
	p, err := parsePlace(at)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(filepath.Join(r.dir, p.file))
	if err != nil {
		return nil, fmt.Errorf("page store: %w", err)
	}
	defer f.Close()
	if _, err := f.Seek(p.offset, io.SeekStart); err != nil {
		return nil, fmt.Errorf("page store: %w", err)
	}
	in, members := bufio.NewReader(f), &memberReader{}
	page, err := members.read(in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", at, err)
	}
	rec, err := members.read(in)
	switch {
	case err != nil:
		return nil, fmt.Errorf("behind %s: %w", at, err)
	case rec.Type != "conversion" || rec.Fields.Get("WARC-Refers-To") != page.Fields.Get("WARC-Record-ID"):
		return nil, fmt.Errorf("behind %s: %w of what its scripts made of it", at, ErrRecord)
	}
	return &Rendered{DOM: rec.Body, Navigations: rec.Fields.Values(Navigation)}, nil
}

func (r *Reader) at(p place) (*Record, error) {
	f, err := os.Open(filepath.Join(r.dir, p.file))
	if err != nil {
		return nil, fmt.Errorf("page store: %w", err)
	}
	defer f.Close()
	if _, err := f.Seek(p.offset, io.SeekStart); err != nil {
		return nil, fmt.Errorf("page store: %w", err)
	}
	rec, err := new(memberReader).read(bufio.NewReader(f))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p, err)
	}
	return rec, nil
}

// errPassed reports an invalid record whose end was found, so that the next one can be read.
var errPassed = fmt.Errorf("%w, but its end was found", ErrRecord)

// A memberReader reads records in gzip members, one after the other with the same memory. The zero value is ready to
// use.
type memberReader struct {
	gzip gzip.Reader
	text *bufio.Reader
}

// read reads the record in the member that r is at.
func (m *memberReader) read(r *bufio.Reader) (*Record, error) {
	if err := m.gzip.Reset(r); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRecord, err)
	}
	m.gzip.Multistream(false)
	if m.text == nil {
		m.text = bufio.NewReaderSize(nil, 64<<10)
	}
	m.text.Reset(&m.gzip)
	rec, err := readRecord(m.text)
	if err != nil {
		if _, torn := io.Copy(io.Discard, io.LimitReader(&m.gzip, maxBlock)); torn == nil {
			err = fmt.Errorf("%w: %w", errPassed, err)
		}
		return nil, err
	}
	if _, err := io.Copy(io.Discard, io.LimitReader(&m.gzip, 16)); err != nil { // verifies the checksum
		return nil, fmt.Errorf("%w: %w", ErrRecord, err)
	}
	return rec, nil
}

// readRecord reads one uncompressed record.
func readRecord(r *bufio.Reader) (*Record, error) {
	line, err := r.ReadSlice('\n')
	if err != nil || string(bytes.TrimRight(line, "\r\n")) != version {
		return nil, fmt.Errorf("%w: it does not begin with %s", ErrRecord, version)
	}
	f, err := readFields(r)
	if err != nil {
		return nil, err
	}
	size, err := strconv.ParseInt(f.Get("Content-Length"), 10, 64)
	if err != nil || size < 0 || size > maxBlock {
		return nil, fmt.Errorf("%w: its length is %q", ErrRecord, f.Get("Content-Length"))
	}
	var block bytes.Buffer
	block.Grow(int(min(size, maxGrown)) + bytes.MinRead) // beyond that it grows with the data
	if n, err := io.Copy(&block, io.LimitReader(r, size)); err != nil || n < size {
		return nil, fmt.Errorf("%w: %d of %d bytes", ErrRecord, n, size)
	}
	end := make([]byte, 4)
	if _, err := io.ReadFull(r, end); err != nil || string(end) != "\r\n\r\n" {
		return nil, fmt.Errorf("%w: it does not end", ErrRecord)
	}
	rec := &Record{Type: f.Get("WARC-Type"), Fields: f, URL: f.Get("WARC-Target-URI"), Body: block.Bytes()}
	if rec.At, err = time.Parse(time.RFC3339, f.Get("WARC-Date")); err != nil {
		return nil, fmt.Errorf("%w: its date is %q", ErrRecord, f.Get("WARC-Date"))
	}
	if rec.Type != "response" && rec.Type != "revisit" {
		return rec, nil
	}
	return rec, rec.open()
}

// open removes the HTTP header of an answer from the block.
func (rec *Record) open() error {
	block := bytes.NewReader(rec.Body)
	r := bufio.NewReader(block)
	line, err := r.ReadString('\n')
	parts := strings.Fields(line)
	if err != nil || len(parts) < 2 || !strings.HasPrefix(parts[0], "HTTP/") {
		return fmt.Errorf("%w: it holds no answer", ErrRecord)
	}
	if rec.Status, err = strconv.Atoi(parts[1]); err != nil || rec.Status < 100 || rec.Status > 999 {
		return fmt.Errorf("%w: status %q", ErrRecord, parts[1])
	}
	if rec.Header, err = readFields(r); err != nil {
		return err
	}
	begin := len(rec.Body) - r.Buffered() - block.Len()
	rec.head, rec.Body = rec.Body[:begin:begin], rec.Body[begin:]
	return nil
}

func readFields(r *bufio.Reader) (http.Header, error) {
	f, err := textproto.NewReader(bufio.NewReader(&until{r: r, left: maxHead})).ReadMIMEHeader()
	if err != nil {
		return nil, fmt.Errorf("%w: its fields: %w", ErrRecord, err)
	}
	return http.Header(f), nil
}

// until reads up to and including the empty line that ends a header, and no further.
type until struct {
	r    *bufio.Reader
	left int
	rest []byte
	done bool
}

func (u *until) Read(p []byte) (int, error) {
	for len(u.rest) == 0 {
		if u.done {
			return 0, io.EOF
		}
		line, err := u.r.ReadBytes('\n')
		if u.left -= len(line); u.left < 0 {
			return 0, errors.New("too long")
		}
		if err != nil {
			return 0, io.ErrUnexpectedEOF
		}
		u.done = len(bytes.TrimRight(line, "\r\n")) == 0
		u.rest = line
	}
	n := copy(p, u.rest)
	u.rest = u.rest[n:]
	return n, nil
}

// A place is where a record begins.
type place struct {
	file   string
	offset int64
}

func (p place) String() string { return p.file + "#" + strconv.FormatInt(p.offset, 10) }

// parsePlace parses a place. It rejects a file that is not just a segment's name, so that no place leads out
// of the folder.
func parsePlace(s string) (place, error) {
	file, offset, ok := strings.Cut(s, "#")
	n, err := strconv.ParseInt(offset, 10, 64)
	if !ok || err != nil || n < 0 || !isSegment(file) {
		return place{}, fmt.Errorf("%w: %q is no place in a page store", ErrRecord, s)
	}
	return place{file, n}, nil
}

// ParsePlace returns the file and the offset of a place returned by [Writer.Append].
func ParsePlace(at string) (file string, offset int64, err error) {
	p, err := parsePlace(at)
	return p.file, p.offset, err
}

// isSegment reports whether a file name is that of a segment: NAME-00001.warc.gz.
func isSegment(file string) bool {
	base, ok := strings.CutSuffix(file, segmentSuffix)
	return ok && base != "" && len(base) <= 64 && strings.Trim(base, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}
