package archive

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/textproto"
	"strconv"
	"strings"
	"time"
)

const (
	maxHead   = 256 << 10 // bytes of the header of a record
	maxUnread = 64 << 20  // bytes of a record that are decompressed although nobody reads them
	readSize  = 64 << 10
)

// ErrRecord reports data that is not a record of a web archive.
var ErrRecord = errors.New("no readable WARC record")

// A Place is where a record begins: the offset of its gzip member or Zstandard frame in the file, and how many records
// come before it there. Without compression every record is a member of its own.
type Place struct {
	Offset int64
	Index  int
}

// A Record is the header of a record. Its block is read from the [Reader].
type Record struct {
	Place  Place
	Type   string
	Fields http.Header // canonical names
	URL    string
	At     time.Time
	Length int64 // bytes of the block
}

// A Reader reads the records of one file. It belongs to one goroutine.
type Reader struct {
	// OnDamage is called for each record that cannot be read; may be nil.
	OnDamage func(at int64, err error)

	file     io.ReaderAt
	size     int64
	pack     packing
	member   member
	unpacked *bufio.Reader
	block    *bufio.Reader // of the last record, for the header of an answer
	place    Place         // of the next record
	in       *bufio.Reader // of the member at place.Offset; valid while open
	open     bool
	left     int64 // bytes of the block of the last record that are still to be read
	ended    bool  // the last record was read to its end
	guesses  int   // see maxGuesses
	wasted   int64 // bytes of the file that belonged to damaged records and were read again
}

// NewReader returns a reader of a file of the given size.
func NewReader(file io.ReaderAt, size int64) (*Reader, error) {
	pack, err := packingOf(file)
	r := &Reader{
		file: file, size: size, pack: pack, ended: true, unpacked: bufio.NewReaderSize(nil, readSize),
		block: bufio.NewReaderSize(nil, readSize),
		member: member{raw: bufio.NewReaderSize(nil, readSize), zstd: &frames{},
			probe: bufio.NewReaderSize(nil, 512)},
	}
	return r, err
}

// Close frees the memory of the reader. It does not close the file.
func (r *Reader) Close() {
	if d := r.member.zstd.decoder; d != nil {
		d.Close()
	}
}

// Seek continues at a record that Next has returned before.
func (r *Reader) Seek(to Place) error {
	if !r.ended || !r.open || r.place.Offset != to.Offset || r.place.Index > to.Index {
		r.place, r.open, r.left, r.ended = Place{Offset: to.Offset}, false, 0, true
	}
	for r.place.Index < to.Index {
		if _, err := r.Next(); err != nil {
			return err
		}
		if r.place.Offset != to.Offset {
			return fmt.Errorf("%w at offset %d", ErrRecord, to.Offset)
		}
		if err := r.End(); err != nil && err != ErrLong {
			return err
		}
	}
	return nil
}

// Next returns the next record that can be read; at the end of the file, [io.EOF]. It ends the one before.
func (r *Reader) Next() (*Record, error) {
	for {
		if !r.ended {
			if err := r.End(); err != nil && !errors.Is(err, ErrRecord) && err != ErrLong {
				return nil, err
			}
		}
		rec, err := r.next()
		if err == nil || err == io.EOF {
			return rec, err
		}
		if err := r.damaged(err); err != nil {
			return nil, err
		}
	}
}

// Read reads the block of the last record. If the file ends before the block, the error is [io.ErrUnexpectedEOF].
func (r *Reader) Read(p []byte) (int, error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	n, err := r.in.Read(p[:min(int64(len(p)), r.left)])
	r.left -= int64(n)
	if err == io.EOF && r.left > 0 {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// ErrLong reports a record that was not read to its end, because it is too long for a page.
var ErrLong = errors.New("the record is too long to be read")

// End reads the last record to its end, and returns [ErrRecord] if it is not whole: it is cut short, longer than it
// says, or its checksum is wrong. The damage is reported, and the next record is found. For a long record it returns
// [ErrLong], which is no damage.
func (r *Reader) End() error {
	if r.ended {
		return nil
	}
	err := r.finish()
	r.ended = true
	if err == nil || err == ErrLong {
		return err
	}
	return errors.Join(fmt.Errorf("%w: %w", ErrRecord, err), r.damaged(err))
}

// finish reads up to the next record, and behind the last one of a member verifies the checksum.
func (r *Reader) finish() error {
	if r.left > maxUnread {
		return r.passOver()
	}
	for r.left > 0 {
		n, err := r.in.Discard(int(min(r.left, readSize)))
		if r.left -= int64(n); err != nil {
			return fmt.Errorf("%d bytes are missing", r.left)
		}
	}
	for lines := 0; ; {
		b, err := r.in.ReadByte()
		switch {
		case err == io.EOF:
			r.nextMember()
			return nil
		case err != nil:
			return err
		case b == '\n':
			lines++
			continue
		case b == '\r':
			continue
		}
		if err := r.in.UnreadByte(); err != nil {
			return err
		}
		if next, _ := r.in.Peek(len(magic)); string(next) != magic && lines < 2 {
			return errors.New("it is longer than it says")
		}
		if r.pack == plain {
			r.place = Place{Offset: r.member.at()}
		} else {
			r.place.Index++
		}
		return nil
	}
}

// passOver moves place behind a long record without decompressing it. Records behind it in its member are lost.
func (r *Reader) passOver() (err error) {
	switch r.open = false; r.pack {
	case plain:
		r.place = Place{Offset: r.member.at() + r.left}
		r.place.Offset, err = r.find(r.place.Offset)
	case gzipped:
		r.place.Index = 0
		r.place.Offset, err = r.find(r.member.at())
	case zstandard:
		r.place = Place{Offset: r.member.end}
	}
	if r.left = 0; err == nil {
		err = ErrLong
	}
	return err
}

// magic is what every record begins with.
const magic = "WARC/1."

// next reads the header of the record at place.
func (r *Reader) next() (*Record, error) {
	if !r.open {
		if err := r.openMember(); err != nil {
			return nil, err
		}
	}
	rec, err := readHead(r.in)
	if err != nil {
		return nil, err
	}
	if r.pack == plain && rec.Length > r.size-r.member.at() {
		return nil, fmt.Errorf("%w: it is longer than the file", ErrRecord)
	}
	rec.Place, r.left, r.ended = r.place, rec.Length, false
	return rec, nil
}

// damaged reports damage at place, and moves place to the next point behind it at which a record begins.
func (r *Reader) damaged(why error) (err error) {
	r.report(why)
	at, from := r.size, r.place.Offset+1
	if r.pack != zstandard {
		r.wasted += r.member.at() - from
	}
	if r.wasted > mostWasted*r.size {
		r.report(errGivenUp)
	} else if at, err = r.find(from); err != nil {
		return err
	}
	r.place, r.open, r.left, r.ended = Place{Offset: at}, false, 0, true
	return nil
}

func (r *Reader) report(why error) {
	if r.OnDamage != nil {
		r.OnDamage(r.place.Offset, why)
	}
}

// readHead reads the version and the fields of a record.
func readHead(in *bufio.Reader) (*Record, error) {
	head := headReader{in: in, room: maxHead}
	line, err := head.line()
	if err != nil {
		return nil, err
	}
	if version := string(line); version != "WARC/1.0" && version != "WARC/1.1" {
		return nil, fmt.Errorf("%w: it does not begin with WARC/1.0 or WARC/1.1", ErrRecord)
	}
	rec := &Record{}
	if rec.Fields, err = head.fields(); err != nil {
		return nil, err
	}
	rec.Type = strings.ToLower(rec.Fields.Get("WARC-Type"))
	rec.URL = strings.TrimSuffix(strings.TrimPrefix(rec.Fields.Get("WARC-Target-URI"), "<"), ">") // as Wget writes it
	if rec.Length, err = strconv.ParseInt(rec.Fields.Get("Content-Length"), 10, 64); err != nil || rec.Length < 0 {
		return nil, fmt.Errorf("%w: its length is %.40q", ErrRecord, rec.Fields.Get("Content-Length"))
	}
	if rec.At, err = time.Parse(time.RFC3339, rec.Fields.Get("WARC-Date")); err != nil {
		return nil, fmt.Errorf("%w: its date is %.40q", ErrRecord, rec.Fields.Get("WARC-Date"))
	}
	return rec, nil
}

// A headReader reads the lines of a header.
type headReader struct {
	in   *bufio.Reader
	room int // bytes
}

// line returns the next line without its end. It is valid until the next call.
func (h *headReader) line() ([]byte, error) {
	line, err := h.in.ReadSlice('\n')
	for errors.Is(err, bufio.ErrBufferFull) && len(line) < h.room {
		whole := bytes.Clone(line)
		line, err = h.in.ReadSlice('\n')
		line = append(whole, line...)
	}
	if h.room -= len(line); err != nil || h.room < 0 {
		return nil, fmt.Errorf("%w: its header does not end", ErrRecord)
	}
	return bytes.TrimRight(line, "\r\n"), nil
}

// fields reads fields up to the empty line. A line that begins with a blank continues the one before; one without a
// colon is skipped.
func (h *headReader) fields() (http.Header, error) {
	f, last := http.Header{}, ""
	for {
		line, err := h.line()
		if err != nil || len(line) == 0 {
			return f, err
		}
		if folded := line[0] == ' ' || line[0] == '\t'; folded && last != "" {
			values := f[last]
			values[len(values)-1] += " " + string(bytes.TrimSpace(line))
			continue
		}
		name, value, ok := bytes.Cut(line, []byte(":"))
		if !ok {
			continue
		}
		last = textproto.CanonicalMIMEHeaderKey(string(bytes.TrimSpace(name)))
		f[last] = append(f[last], string(bytes.TrimSpace(value)))
	}
}

// A counter counts the bytes that are read from a reader.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}
