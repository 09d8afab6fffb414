package wacz

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"path"
	"time"

	"github.com/sumi-ripple/ripple/schema/extsort"
)

// Version is the version of the format.
const Version = "1.1.1"

// A Page is a line in the list of pages.
type Page struct {
	URL   string // as in the records
	At    time.Time
	Title string // empty: none
}

// About describes an archive.
type About struct {
	Title    string
	Created  time.Time
	Software string
	Main     *Page // to be shown first; nil: none
}

// A Writer writes an archive. Records come first, file by file; pages and lines of the index may come in any order. It
// belongs to one goroutine.
type Writer struct {
	zip       *zip.Writer
	modified  time.Time
	resources []resource
	open      *entry // nil: none
	index     *extsort.Sorter
	pages     *extsort.Sorter
}

// NewWriter returns a writer to w. Temporary files are in dir. modified is the time of every entry of the zip file.
func NewWriter(w io.Writer, dir string, modified time.Time) *Writer {
	return &Writer{zip: zip.NewWriter(w), modified: modified.UTC(), index: extsort.New(dir), pages: extsort.New(dir)}
}

// Free removes the temporary files. It is idempotent, and does not finish the archive.
func (w *Writer) Free() {
	w.index.Close()
	w.pages.Close()
}

// Begin begins a file of records, such as "x.warc.gz".
func (w *Writer) Begin(name string) error { return w.begin("archive/"+name, zip.Store) }

// Append appends records to the file that was begun last, and returns the offset of the first.
func (w *Writer) Append(records []byte) (offset int64, err error) {
	offset = w.open.size
	_, err = w.open.Write(records)
	return offset, err
}

// Index adds a line of CDXJ, with its end.
func (w *Writer) Index(line []byte) error { return w.index.Add(line) }

// List adds a page to the list of pages. They are listed by ascending order, which is different for each.
func (w *Writer) List(order uint64, p Page) error {
	line, err := json.Marshal(struct {
		ID    string `json:"id"`
		URL   string `json:"url"`
		TS    string `json:"ts"`
		Title string `json:"title,omitempty"`
	}{fmt.Sprint(order), p.URL, p.At.UTC().Format(time.RFC3339), p.Title})
	if err != nil {
		return err
	}
	return w.pages.Add(append(append(binary.BigEndian.AppendUint64(nil, order), line...), '\n'))
}

// Close finishes the archive, and does not close the file it is in.
func (w *Writer) Close(about About) error {
	for _, write := range []func() error{
		w.writeIndex, w.writePages, func() error { return w.writeManifest(about) }, w.end, w.zip.Close,
	} {
		if err := write(); err != nil {
			return err
		}
	}
	return nil
}

// A resource is an entry as the manifest lists it.
type resource struct {
	Name  string `json:"name"`
	Path  string `json:"path"`
	Hash  string `json:"hash"`
	Bytes int64  `json:"bytes"`
}

// An entry is the file in the archive that is being written.
type entry struct {
	path string
	to   io.Writer
	hash hash.Hash
	size int64
}

func (e *entry) Write(p []byte) (int, error) {
	n, err := e.to.Write(p)
	e.hash.Write(p[:n])
	e.size += int64(n)
	return n, err
}

func (w *Writer) begin(name string, method uint16) error {
	if err := w.end(); err != nil {
		return err
	}
	to, err := w.zip.CreateHeader(&zip.FileHeader{Name: name, Method: method, Modified: w.modified})
	w.open = &entry{path: name, to: to, hash: sha256.New()}
	return err
}

// end adds the open entry to the resources.
func (w *Writer) end() error {
	if e := w.open; e != nil {
		sum := "sha256:" + hex.EncodeToString(e.hash.Sum(nil))
		w.resources = append(w.resources, resource{path.Base(e.path), e.path, sum, e.size})
		w.open = nil
	}
	return nil
}

const (
	indexName   = "index.cdx.gz"
	linesInPart = 300
)

// writeIndex writes the index in parts, each a gzip member, and where each of them is.
func (w *Writer) writeIndex() error {
	if err := w.begin("indexes/"+indexName, zip.Store); err != nil {
		return err
	}
	parts := &parts{to: w.open}
	fmt.Fprintf(&parts.list, `!meta 0 {"format":"cdxj-gzip-1.0","filename":%q}`+"\n", indexName)
	if err := w.index.Each(parts.add); err != nil {
		return err
	}
	if err := parts.flush(); err != nil {
		return err
	}
	if err := w.begin("indexes/index.idx", zip.Deflate); err != nil {
		return err
	}
	_, err := w.open.Write(parts.list.Bytes())
	return err
}

// parts compresses lines in parts.
type parts struct {
	to   *entry
	key  []byte // of the first line of the part: SURT and time
	text bytes.Buffer
	n    int          // lines in text
	list bytes.Buffer // a line for each part
}

func (p *parts) add(line []byte) error {
	if p.n == 0 {
		key, _, _ := bytes.Cut(line, []byte(" {"))
		p.key = append(p.key[:0], key...)
	}
	p.text.Write(line)
	if p.n++; p.n < linesInPart {
		return nil
	}
	return p.flush()
}

func (p *parts) flush() error {
	if p.n == 0 {
		return nil
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(p.text.Bytes()); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	fmt.Fprintf(&p.list, `%s {"offset":%d,"length":%d,"filename":%q}`+"\n", p.key, p.to.size, packed.Len(), indexName)
	p.text.Reset()
	p.n = 0
	_, err := p.to.Write(packed.Bytes())
	return err
}

func (w *Writer) writePages() error {
	if err := w.begin("pages/pages.jsonl", zip.Deflate); err != nil {
		return err
	}
	if _, err := io.WriteString(w.open, `{"format":"json-pages-1.0","id":"pages","title":"All pages"}`+"\n"); err != nil {
		return err
	}
	return w.pages.Each(func(text []byte) error {
		_, err := w.open.Write(text[8:])
		return err
	})
}

// writeManifest writes the list of all entries, and its digest.
func (w *Writer) writeManifest(about About) error {
	if err := w.end(); err != nil {
		return err
	}
	manifest := struct {
		Profile  string     `json:"profile"`
		Version  string     `json:"wacz_version"`
		Title    string     `json:"title"`
		Created  string     `json:"created"`
		Software string     `json:"software"`
		MainURL  string     `json:"mainPageUrl,omitempty"`
		MainDate string     `json:"mainPageDate,omitempty"`
		All      []resource `json:"resources"`
	}{Profile: "data-package", Version: Version, Title: about.Title, Created: about.Created.UTC().Format(time.RFC3339),
		Software: about.Software, All: w.resources}
	if about.Main != nil {
		manifest.MainURL, manifest.MainDate = about.Main.URL, about.Main.At.UTC().Format(time.RFC3339)
	}
	text, err := json.MarshalIndent(manifest, "", "  ")
	if err != nil {
		return err
	}
	digest := fmt.Sprintf(`{"path":"datapackage.json","hash":"sha256:%x"}`+"\n", sha256.Sum256(text))
	for _, file := range []struct {
		name string
		text []byte
	}{{"datapackage.json", text}, {"datapackage-digest.json", []byte(digest)}} {
		if err := w.begin(file.name, zip.Deflate); err != nil {
			return err
		}
		if _, err := w.open.Write(file.text); err != nil {
			return err
		}
	}
	return nil
}
