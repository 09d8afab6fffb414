package warc

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/renameio/v2/maybe"

	"github.com/sumi-ripple/ripple/schema/disk"
)

const (
	segmentSuffix = ".warc.gz"
	indexSuffix   = ".cdxj"
	// MaxSegment is the size in bytes at which a segment is full.
	MaxSegment = 1_000_000_000
)

// A Position is the end of the committed part of a store. The zero Position is that of an empty store.
type Position struct {
	Segment int   // the last segment; 0: none
	Offset  int64 // its end
}

// A prefix of a digest identifies a body within one store; 128 bits make collisions infeasible.
type prefix [16]byte

// A location is what a revisit states about the record it refers to.
type location struct{ url, date, id string }

// A Writer appends to a store.
type Writer struct {
	dir, name, software string
	max                 int64
	file                *os.File
	index               *os.File
	at                  Position // end of the appended data
	bodies              map[prefix]place
	sealer              Sealer // of revisits and warcinfo records
	failed              error
}

// Open opens a store for appending at a position, and creates the folder if it is missing. A name consists of
// lower-case letters and digits. software is stored in the warcinfo records.
//
// If the segment of the position is missing or shorter than expected, a new segment is begun; what remains of
// the old one can still be read.
func Open(dir, name string, at Position, software string) (*Writer, error) {
	if name == "" || len(name) > 40 || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
		return nil, fmt.Errorf("page store: the name %q", name)
	}
	w := &Writer{dir: dir, name: name, software: software, max: MaxSegment, at: at, bodies: map[prefix]place{}}
	err := os.MkdirAll(dir, 0o777)
	if err == nil {
		err = w.cut()
	}
	for segment := 1; err == nil && segment <= at.Segment; segment++ {
		err = w.readIndex(segment)
	}
	if err == nil && w.at.Segment > 0 && w.file == nil {
		err = w.reopen()
	}
	if err != nil {
		w.shut()
		return nil, fmt.Errorf("page store: %w", err)
	}
	return w, nil
}

func (w *Writer) segment(n int) string { return fmt.Sprintf("%s-%05d%s", w.name, n, segmentSuffix) }

func (w *Writer) segmentPath(n int) string { return filepath.Join(w.dir, w.segment(n)) }

func (w *Writer) indexPath(n int) string {
	return strings.TrimSuffix(w.segmentPath(n), segmentSuffix) + indexSuffix
}

// cut removes everything after the position.
func (w *Writer) cut() error {
	for n := w.at.Segment + 1; ; n++ {
		err := os.Remove(w.segmentPath(n))
		if errors.Is(err, os.ErrNotExist) {
			break
		}
		if err != nil {
			return err
		}
		_ = os.Remove(w.indexPath(n)) // derived
	}
	if w.at.Segment == 0 {
		return nil
	}
	stat, err := os.Stat(w.segmentPath(w.at.Segment))
	if errors.Is(err, os.ErrNotExist) || err == nil && stat.Size() < w.at.Offset {
		w.at.Offset = MaxSegment // full: the next page begins another segment
		return nil
	}
	if err != nil || stat.Size() == w.at.Offset {
		return err
	}
	return os.Truncate(w.segmentPath(w.at.Segment), w.at.Offset)
}

// reopen opens the last segment for appending, unless it is full.
func (w *Writer) reopen() error {
	if w.at.Offset >= w.max {
		return nil
	}
	var err error
	if w.file, err = os.OpenFile(w.segmentPath(w.at.Segment), os.O_WRONLY|os.O_APPEND, 0o666); err == nil {
		w.index, err = os.OpenFile(w.indexPath(w.at.Segment), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666)
	}
	return err
}

// readIndex loads the bodies of a segment from its index. If the index does not match, it is rebuilt from the
// segment.
func (w *Writer) readIndex(segment int) error {
	size := int64(0)
	if stat, err := os.Stat(w.segmentPath(segment)); err == nil {
		size = stat.Size()
	}
	entries, end := readEntries(w.indexPath(segment), size)
	if end != size {
		entries = scan(w.segmentPath(segment), w.segment(segment))
		if err := w.writeIndex(segment, entries); err != nil {
			return err
		}
	}
	for _, e := range entries {
		if sum, ok := prefixOf(e.Digest); ok && e.Mime != revisitMime {
			offset, _ := strconv.ParseInt(e.Offset, 10, 64)
			w.bodies[sum] = place{w.segment(segment), offset}
		}
	}
	return nil
}

// readEntries reads an index and returns the end of its last record. It returns -1 if the index does not
// match its segment.
func readEntries(path string, size int64) (entries []entry, last int64) {
	f, err := os.Open(path)
	if err != nil {
		return nil, -1
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		e, end, ok := parseEntry(lines.Bytes())
		if !ok || end > size {
			return nil, -1 // torn, or beyond a truncated end: rebuild
		}
		entries = append(entries, e)
		last = max(last, end)
	}
	return entries, last
}

// scan reads the pages of a segment up to the first point at which it is unreadable.
func scan(path, name string) []entry {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	var entries []entry
	count := &counting{r: f}
	r := bufio.NewReader(count)
	var member memberReader
	for {
		offset := count.n - int64(r.Buffered())
		rec, err := member.read(r)
		if errors.Is(err, errPassed) {
			continue
		}
		if err != nil {
			return entries
		}
		if rec.Type == "response" || rec.Type == "revisit" {
			e := entryOf(rec, name)
			e.Offset = strconv.FormatInt(offset, 10)
			e.Length = strconv.FormatInt(count.n-int64(r.Buffered())-offset, 10)
			entries = append(entries, e)
		}
		if last := len(entries) - 1; rec.Type == "conversion" && last >= 0 {
			entries[last].Rendered = strconv.FormatInt(count.n-int64(r.Buffered())-offset, 10)
		}
	}
}

type counting struct {
	r io.Reader
	n int64
}

func (c *counting) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

func entryOf(rec *Record, name string) entry {
	e := entry{
		key: keyOf(rec.URL), stamp: rec.At.UTC().Format("20060102150405"),
		URL: rec.URL, Status: strconv.Itoa(rec.Status), Filename: name,
		Mime: mime(rec.Header.Get("Content-Type")), Digest: rec.Fields.Get("WARC-Payload-Digest"),
	}
	if rec.Type == "revisit" {
		e.Mime = revisitMime
	}
	return e
}

// prefixOf returns the first half of a 32-byte digest.
func prefixOf(digest string) (p prefix, ok bool) {
	text, ok := strings.CutPrefix(Digest(digest), "sha256:")
	if !ok {
		return p, false
	}
	sum, err := hex.DecodeString(text)
	if err != nil || len(sum) != sha256.Size {
		return p, false
	}
	copy(p[:], sum)
	return p, true
}

// writeIndex replaces an index by a sorted one.
func (w *Writer) writeIndex(segment int, entries []entry) error {
	var lines []string
	for i := range entries {
		line, err := entries[i].line()
		if err != nil {
			return err
		}
		lines = append(lines, string(line))
	}
	slices.Sort(lines)
	return maybe.WriteFile(w.indexPath(segment), []byte(strings.Join(lines, "")), 0o666)
}

// Append appends a page and returns its place, for use with a [Reader]. After an error the store must be
// reopened.
func (w *Writer) Append(s *Sealed) (at string, err error) {
	if w.failed != nil {
		return "", w.failed
	}
	if at, err = w.append(s); err != nil {
		w.failed = fmt.Errorf("page store: %w", err)
	}
	return at, w.failed
}

func (w *Writer) append(s *Sealed) (string, error) {
	if w.file == nil || w.at.Offset >= w.max {
		if err := w.begin(); err != nil {
			return "", err
		}
	}
	record, mime := s.response, s.mime
	var sum prefix
	copy(sum[:], s.digest[:])
	first, known := w.bodies[sum]
	if known {
		again, err := w.revisit(s, first)
		if err == nil {
			record, mime = again, revisitMime
		}
		known = err == nil // otherwise the old record is gone: store the page again
	}
	if err := w.write(s.request); err != nil {
		return "", err
	}
	here := place{w.segment(w.at.Segment), w.at.Offset}
	if err := w.write(record); err != nil {
		return "", err
	}
	if err := w.write(s.rendered); err != nil {
		return "", err
	}
	if !known {
		w.bodies[sum] = here
	}
	e := entry{
		key: keyOf(s.url), stamp: s.at.Format("20060102150405"), URL: s.url, Mime: mime, Status: strconv.Itoa(s.status),
		Digest: digestText(s.digest), Length: strconv.Itoa(len(record)), Offset: strconv.FormatInt(here.offset, 10),
		Filename: here.file,
	}
	if len(s.rendered) > 0 {
		e.Rendered = strconv.Itoa(len(s.rendered))
	}
	line, err := e.line()
	if err == nil {
		_, err = w.index.Write(line)
	}
	return here.String(), err
}

// revisit makes a record that refers to the body stored at a place.
func (w *Writer) revisit(s *Sealed, first place) ([]byte, error) {
	rec, err := NewReader(w.dir).at(first)
	if err != nil {
		return nil, err
	}
	if Digest(rec.Fields.Get("WARC-Payload-Digest")) != digestText(s.digest) {
		return nil, ErrRecord
	}
	of := &location{rec.URL, rec.Fields.Get("WARC-Date"), rec.Fields.Get("WARC-Record-ID")}
	return w.sealer.revisit(s, of, first)
}

func (w *Writer) write(record []byte) error {
	n, err := w.file.Write(record)
	w.at.Offset += int64(n)
	return err
}

// begin finishes the current segment and starts the next.
func (w *Writer) begin() error {
	if err := w.end(); err != nil {
		return err
	}
	next := w.at.Segment + 1
	f, err := os.OpenFile(w.segmentPath(next), os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o666)
	if err != nil {
		return err
	}
	w.file, w.at = f, Position{Segment: next}
	how := os.O_WRONLY | os.O_CREATE | os.O_TRUNC | os.O_APPEND
	if w.index, err = os.OpenFile(w.indexPath(next), how, 0o666); err != nil {
		return err
	}
	record, err := w.sealer.info(w.segment(next), w.software, time.Now())
	if err == nil {
		err = w.write(record)
	}
	return errors.Join(err, disk.SyncDir(w.dir))
}

// end makes the current segment durable and sorts its index.
func (w *Writer) end() error {
	if w.file == nil {
		return nil
	}
	err := errors.Join(w.flush(), w.file.Close(), w.index.Close())
	w.file, w.index = nil, nil
	if err != nil {
		return err
	}
	entries, _ := readEntries(w.indexPath(w.at.Segment), w.at.Offset)
	return w.writeIndex(w.at.Segment, entries)
}

// Sync makes the appended data durable, and returns the position after it.
func (w *Writer) Sync() (Position, error) {
	if w.failed != nil {
		return w.at, w.failed
	}
	if w.file != nil {
		if err := w.flush(); err != nil {
			w.failed = fmt.Errorf("page store: %w", err)
		}
	}
	return w.at, w.failed
}

// flush makes the data of the segment durable. It fails if the file no longer has its name, or if another
// process has written to it or truncated it: the data is then lost.
func (w *Writer) flush() error {
	path := w.segmentPath(w.at.Segment)
	mine, err := w.file.Stat()
	if err != nil {
		return err
	}
	if named, err := os.Stat(path); err != nil || !os.SameFile(mine, named) {
		return fmt.Errorf("%s was removed, renamed or replaced while it was in use", path)
	}
	if mine.Size() != w.at.Offset {
		return fmt.Errorf("%s was changed by another program while it was in use: it has %d bytes, and had %d", path,
			mine.Size(), w.at.Offset)
	}
	return w.file.Sync()
}

// Close finishes the segment and sorts its index. Uncommitted data remains until the store is next opened.
func (w *Writer) Close() error {
	if w.failed != nil {
		w.shut()
		return nil
	}
	if err := w.end(); err != nil {
		w.shut()
		return fmt.Errorf("page store: %w", err)
	}
	w.failed = errClosed
	return nil
}

var errClosed = errors.New("page store is closed")

func (w *Writer) shut() {
	for _, f := range []*os.File{w.file, w.index} {
		if f != nil {
			f.Close()
		}
	}
	w.file, w.index = nil, nil
}

// String returns the position in the format of [ParsePosition].
func (p Position) String() string { return fmt.Sprintf("%d %d", p.Segment, p.Offset) }

// ParsePosition parses the result of [Position.String].
func ParsePosition(text []byte) (Position, error) {
	var p Position
	segment, offset, ok := bytes.Cut(text, []byte(" "))
	n, err := strconv.Atoi(string(segment))
	at, err2 := strconv.ParseInt(string(offset), 10, 64)
	if !ok || err != nil || err2 != nil || n < 0 || at < 0 {
		return p, fmt.Errorf("page store: the position %q", text)
	}
	return Position{n, at}, nil
}
