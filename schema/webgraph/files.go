package webgraph

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/klauspost/compress/gzip"
)

// Files are the files of one graph.
type Files struct {
	Release  string // cc-main-2024-may-jun-jul
	Vertices []string
	Edges    []string
	Ranks    []string // may be empty
	Bytes    int64    // that are read: those of the vertices count twice
}

// A MissingError reports a list of a graph of which no file was found.
type MissingError struct {
	List  string // vertices, edges, ranks
	Tried []string
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("no %s of the graph: there is none of %s", e.List, strings.Join(e.Tried, ", "))
}

var releases = regexp.MustCompile(`cc-main-[0-9a-z-]+`)

// Find returns the files of a graph, by the beginning that their names share: PREFIX-vertices.txt.gz, PREFIX-edges.txt,
// or PREFIX-edges.paths.gz, which lists files. An empty ranks means those named alike, if there are any. A listed path
// is looked for in the folder of its list; if it is not there, without its first folder, and so on.
func Find(prefix, ranks string) (*Files, error) {
	f := &Files{Release: releaseOf(prefix)}
	for _, list := range []struct {
		name  string
		files *[]string
		times int64
	}{{"vertices", &f.Vertices, 2}, {"edges", &f.Edges, 1}, {"ranks", &f.Ranks, 1}} {
		named := ""
		if list.name == "ranks" {
			named = ranks
		}
		found, err := findList(prefix, list.name, named)
		if missing := new(MissingError); errors.As(err, &missing) && list.name == "ranks" {
			break
		}
		if err != nil {
			return nil, err
		}
		*list.files = found
		for _, file := range found {
			info, err := os.Stat(file)
			if err != nil {
				return nil, err
			}
			f.Bytes += list.times * info.Size()
		}
	}
	return f, nil
}

// releaseOf returns the release in the name of a graph, or the name.
func releaseOf(prefix string) string {
	base := filepath.Base(prefix)
	if found := releases.FindString(base); found != "" {
		base = strings.TrimRight(found, "-")
	}
	return strings.TrimSuffix(strings.TrimSuffix(base, "-host"), "-domain")
}

// findList returns the files of a list: the named one, or else those beginning with the prefix.
func findList(prefix, list, named string) ([]string, error) {
	tried := []string{named}
	if named == "" {
		tried = tried[:0]
		for _, end := range []string{".paths.gz", ".paths", ".txt.gz", ".txt"} {
			tried = append(tried, prefix+"-"+list+end)
		}
	}
	for _, name := range tried {
		_, err := os.Stat(name)
		switch {
		case named == "" && errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return nil, err
		case strings.HasSuffix(name, ".paths.gz") || strings.HasSuffix(name, ".paths"):
			return listed(name)
		}
		return []string{name}, nil
	}
	return nil, &MissingError{list, tried}
}

// listed returns the files that a list of paths names.
func listed(list string) (files []string, err error) {
	l := &lines{ctx: context.Background(), files: []string{list}}
	defer l.close()
	for l.next() {
		path := strings.TrimSpace(string(l.line))
		if path == "" {
			continue
		}
		file := part(filepath.Dir(list), path)
		if file == "" {
			return nil, fmt.Errorf("%s names %s, which is not below its folder: %w", list, path, fs.ErrNotExist)
		}
		files = append(files, file)
	}
	if l.err == nil && len(files) == 0 {
		return nil, fmt.Errorf("%s names no file", list)
	}
	return files, l.err
}

// part returns the file of a listed path below a folder; empty: there is none.
func part(dir, path string) string {
	for path != "" {
		if filepath.IsLocal(filepath.FromSlash(path)) {
			file := filepath.Join(dir, filepath.FromSlash(path))
			if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
				return file
			}
		}
		_, path, _ = strings.Cut(path, "/")
	}
	return ""
}

// Lines are read in pieces of this size. A line that is longer than one is never a good one.
const bufferSize = 64 << 10

// lines reads the lines of several files, one after the other.
type lines struct {
	ctx   context.Context
	files []string
	read  func(n int) // called with the bytes read from a file; may be nil

	line   []byte // valid until next is called; without its end; nil: it was too long
	err    error
	number int // of the line in its file
	name   string
	file   *os.File
	buffer *bufio.Reader
}

// next reads a line, and reports whether there is one.
func (l *lines) next() bool {
	for l.err == nil {
		if l.buffer == nil && !l.open() {
			return false
		}
		line, err := l.buffer.ReadSlice('\n')
		if err == nil {
			l.number++
			l.line = withoutEnd(line)
			return true
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			l.number++
			l.line = nil
			for errors.Is(err, bufio.ErrBufferFull) {
				_, err = l.buffer.ReadSlice('\n')
			}
			if err == nil || errors.Is(err, io.EOF) {
				return true
			}
			l.err = l.failed(err)
		case !errors.Is(err, io.EOF):
			l.err = l.failed(err)
		case len(line) > 0: // the last one has no end
			l.number++
			l.line = withoutEnd(line)
			return true
		default:
			l.close()
		}
	}
	return false
}

func withoutEnd(line []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte{'\n'}), []byte{'\r'})
}

// open opens the next file, which is decompressed if it begins like gzip.
func (l *lines) open() bool {
	if len(l.files) == 0 {
		return false
	}
	l.name, l.files, l.number = l.files[0], l.files[1:], 0
	if l.file, l.err = os.Open(l.name); l.err != nil {
		return false
	}
	raw := bufio.NewReaderSize(&counted{l.ctx, l.file, l.read}, 256<<10)
	mark, err := raw.Peek(2)
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		l.err = l.failed(err)
		return false
	case bytes.Equal(mark, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(raw)
		if err != nil {
			l.err = l.failed(err)
			return false
		}
		l.buffer = bufio.NewReaderSize(z, bufferSize)
	default:
		l.buffer = bufio.NewReaderSize(raw, bufferSize)
	}
	return true
}

func (l *lines) failed(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("read %s: it is cut off: %w", l.name, err)
	}
	return fmt.Errorf("read %s: %w", l.name, err)
}

// close closes the open file.
func (l *lines) close() {
	if l.file != nil {
		_ = l.file.Close()
	}
	l.file, l.buffer = nil, nil
}

// counted counts what is read, until the context is done.
type counted struct {
	ctx  context.Context
	r    io.Reader
	read func(n int)
}

func (c *counted) Read(b []byte) (int, error) {
	if err := context.Cause(c.ctx); err != nil {
		return 0, err
	}
	n, err := c.r.Read(b)
	if c.read != nil {
		c.read(n)
	}
	return n, err
}
