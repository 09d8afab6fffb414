package answers

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"

	"github.com/zeebo/xxh3"

	"github.com/sumi-ripple/ripple/crawl/render"
)

// A journal holds the answers of a run in a file, one after the other, with as much of each as it takes to find them
// again. The file is not synced: after a power failure, some of the last answers may be requested again.
//
//	line      "ripple answers 1, " and the name of the run
//	records   length of the head and of the body (u32 each, big-endian), XXH3 of these eight bytes and the head
//	          (u64, big-endian), head (JSON), body
//
// Reading ends with the first record that is incomplete or damaged; the next one replaces it.
type journal struct {
	dir    string // of the temporary file, if there is no path
	path   string // empty: nothing outlives the process
	run    string
	f      *os.File // nil: not created yet
	end    int64
	bodies int64 // bytes of bodies
	closed bool
}

const (
	mark     = "ripple answers 1, "
	maxHead  = 4 << 20 // bytes of JSON
	preamble = 16      // bytes before a head
)

// A head is an answer without its body.
type head struct {
	URL     string      `json:"url"`
	Accept  string      `json:"accept,omitempty"`
	Status  int         `json:"status,omitempty"`
	Header  http.Header `json:"header,omitempty"`
	Refused string      `json:"refused,omitempty"`
	Sum     uint64      `json:"sum,omitempty"` // XXH3 of the body

	size int // bytes of the JSON
}

func (h *head) resource() render.Resource { return render.Resource{URL: h.URL, Accept: h.Accept} }

// open keeps the journal in a file, and calls known for each answer that it has of the run. The file is created with
// the first answer.
func (j *journal) open(path, run string, known func(*head, extent)) error {
	j.path, j.run = path, run
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	j.f = f
	if err := j.read(known); err != nil {
		return errors.Join(err, j.close())
	}
	return nil
}

// read reads the answers of the run, or removes those of another one.
func (j *journal) read(known func(*head, extent)) error {
	in := bufio.NewReaderSize(j.f, 1<<16)
	text, err := in.ReadSlice('\n')
	if err != nil && err != io.EOF && !errors.Is(err, bufio.ErrBufferFull) {
		return err
	}
	if string(text) != mark+j.run+"\n" {
		if !ours(text) {
			return &inTheWay{j.path}
		}
		if err := j.f.Truncate(0); err != nil {
			return err
		}
		return j.begin()
	}
	j.end = int64(len(text))
	for {
		h, size, err := next(in)
		if err == errDamaged {
			return nil
		}
		if err != nil {
			return err
		}
		body := extent{j.end + preamble + int64(h.size), size}
		j.end, j.bodies = body.at+size, j.bodies+size
		known(&h, body)
	}
}

// ours reports whether a file that begins with the text is a journal, or was to become one.
func ours(text []byte) bool {
	most := min(len(text), len(mark))
	return string(text[:most]) == mark[:most]
}

// errDamaged reports the end of what can be read.
var errDamaged = errors.New("damaged")

// next reads a record except for its body, whose size it returns and whose sum it checks.
func next(in io.Reader) (h head, size int64, err error) {
	var pre [preamble]byte
	if _, err := io.ReadFull(in, pre[:]); err != nil {
		return h, 0, atEnd(err)
	}
	length := binary.BigEndian.Uint32(pre[:])
	if length > maxHead {
		return h, 0, errDamaged
	}
	text := make([]byte, length)
	if _, err := io.ReadFull(in, text); err != nil {
		return h, 0, atEnd(err)
	}
	if binary.BigEndian.Uint64(pre[8:]) != sumOf(pre[:8], text) || json.Unmarshal(text, &h) != nil {
		return h, 0, errDamaged
	}
	h.size = len(text)
	size = int64(binary.BigEndian.Uint32(pre[4:]))
	body := xxh3.New()
	if _, err := io.CopyN(body, in, size); err != nil {
		return h, 0, atEnd(err)
	}
	if h.Refused == "" && body.Sum64() != h.Sum || h.Refused != "" && size != 0 {
		return h, 0, errDamaged
	}
	return h, size, nil
}

func atEnd(err error) error {
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		return errDamaged
	}
	return err
}

func sumOf(lengths, head []byte) uint64 {
	sum := xxh3.New()
	_, _ = sum.Write(lengths) // never fails
	_, _ = sum.Write(head)
	return sum.Sum64()
}

// add writes an answer, and returns where its body is.
func (j *journal) add(h *head, body []byte) (extent, error) {
	text, err := json.Marshal(h)
	if err != nil {
		return extent{}, err
	}
	if len(text) > maxHead {
		return extent{}, fmt.Errorf("a head of %d bytes", len(text))
	}
	if j.f == nil {
		if err := j.create(); err != nil {
			return extent{}, err
		}
	}
	record := make([]byte, preamble, preamble+len(text)+len(body))
	binary.BigEndian.PutUint32(record, uint32(len(text)))
	binary.BigEndian.PutUint32(record[4:], uint32(len(body)))
	binary.BigEndian.PutUint64(record[8:], sumOf(record[:8], text))
	record = append(append(record, text...), body...)
	if _, err := j.f.WriteAt(record, j.end); err != nil {
		return extent{}, err
	}
	at := extent{j.end + preamble + int64(len(text)), int64(len(body))}
	j.end, j.bodies = j.end+int64(len(record)), j.bodies+at.size
	return at, nil
}

func (j *journal) create() (err error) {
	switch {
	case j.closed:
		return errClosed
	case j.path == "":
		j.f, err = temporary(j.dir)
	default:
		j.f, err = os.OpenFile(j.path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	}
	if err != nil {
		return err
	}
	return j.begin()
}

// begin writes the first line.
func (j *journal) begin() error {
	line := mark + j.run + "\n"
	_, err := j.f.WriteAt([]byte(line), 0)
	j.end = int64(len(line))
	return err
}

func (j *journal) close() error {
	j.closed = true
	if j.f == nil {
		return nil
	}
	err := j.f.Close()
	if j.path == "" {
		_ = os.Remove(j.f.Name()) // if it could not be removed while it was open
	}
	j.f, j.end, j.bodies = nil, 0, 0
	return err
}

// An inTheWay is a file that is no journal and has the name of one.
type inTheWay struct{ path string }

func (e *inTheWay) Error() string {
	return e.path + " is in the way of what scripts of pages have requested: move it away"
}

// Remove removes the file that [Cache.Continue] has left. It is no error if there is none. A file that is no journal
// stays.
func Remove(path string) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	text := make([]byte, len(mark))
	n, err := io.ReadFull(f, text)
	if err = atEnd(err); err == errDamaged { // it is shorter
		err = nil
	}
	if err = errors.Join(err, f.Close()); err != nil || !ours(text[:n]) {
		return err
	}
	return os.Remove(path)
}
