package webtest

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strings"
	"sync"
	"time"
)

// maxCoded limits the compressed bodies that a folder caches, in bytes.
const maxCoded = 256 << 20

// A folder serves files, which must not change meanwhile.
type folder struct {
	files fs.FS

	mu    sync.Mutex
	coded map[string][]byte // gzip, by file name
	size  int
}

func newFolder(files fs.FS) *folder { return &folder{files: files, coded: map[string][]byte{}} }

func (f *folder) respond(x *exchange, r *http.Request) {
	name, ok := fileName(r.URL.Path)
	if !ok {
		notFound(x)
		return
	}
	info, err := fs.Stat(f.files, name)
	if err == nil && info.IsDir() {
		if !strings.HasSuffix(r.URL.Path, "/") {
			redirectToSlash(x, r)
			return
		}
		name = path.Join(name, "index.html")
		info, err = fs.Stat(f.files, name)
	} else if strings.HasSuffix(r.URL.Path, "/") {
		err = fs.ErrNotExist
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		notFound(x)
	case err != nil || !info.Mode().IsRegular():
		answer{status: http.StatusForbidden, body: []byte(statusPage(403))}.send(x, r)
	default:
		f.send(x, r, name, info)
	}
}

// fileName returns the name in the folder, "." for its root. It rejects names that could lead out of
// the folder, and empty segments.
func fileName(urlPath string) (string, bool) {
	name := strings.TrimSuffix(strings.TrimPrefix(urlPath, "/"), "/")
	if name == "" {
		return ".", urlPath == "/"
	}
	return name, fs.ValidPath(name) && !strings.Contains(name, "\x00")
}

func redirectToSlash(x *exchange, r *http.Request) {
	to := url.URL{Path: r.URL.Path + "/", RawQuery: r.URL.RawQuery}
	a := answer{status: http.StatusMovedPermanently, body: []byte(statusPage(301))}
	a.header = http.Header{"Location": {to.String()}, "Content-Type": {"text/html"}}
	a.send(x, r)
}

func (f *folder) send(x *exchange, r *http.Request, name string, info fs.FileInfo) {
	body, err := fs.ReadFile(f.files, name)
	if err != nil {
		answer{status: http.StatusForbidden, body: []byte(statusPage(403))}.send(x, r)
		return
	}
	a := answer{status: http.StatusOK, body: body, header: fileHeader(name, info)}
	if compressible(a.header.Get("Content-Type")) {
		a.header.Set("Vary", "Accept-Encoding")
		if a.coding = acceptedCoding(r.Header, []string{"gzip"}); a.coding != "" {
			a.body = f.gzipped(name, body)
		}
	}
	a.send(x, r)
}

func fileHeader(name string, info fs.FileInfo) http.Header {
	header := http.Header{"Content-Type": {contentType(name)}}
	if t := info.ModTime(); !t.IsZero() && t.Unix() != 0 {
		header.Set("Last-Modified", t.UTC().Format(http.TimeFormat))
		header.Set("Etag", fmt.Sprintf(`W/"%x-%x"`, t.Truncate(time.Second).Unix(), info.Size()))
	}
	return header
}

func (f *folder) gzipped(name string, body []byte) []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	if b, ok := f.coded[name]; ok {
		return b
	}
	var buf bytes.Buffer
	w := newEncoder(&buf, "gzip")
	_, _ = w.Write(body) // a bytes.Buffer takes everything
	_ = w.Close()
	if f.size+buf.Len() <= maxCoded {
		f.coded[name] = buf.Bytes()
		f.size += buf.Len()
	}
	return buf.Bytes()
}

// contentType depends only on the extension. For the types common in documents it is the same on every
// machine.
func contentType(name string) string {
	ext := strings.ToLower(path.Ext(name))
	switch ext {
	case ".html", ".htm":
		return "text/html; charset=utf-8"
	case ".txt", ".md":
		return "text/plain; charset=utf-8"
	case ".xhtml":
		return "application/xhtml+xml"
	case ".xml":
		return "application/xml"
	case ".gz":
		return "application/gzip"
	case ".zip":
		return "application/zip"
	case ".pdf":
		return "application/pdf"
	}
	if t := mime.TypeByExtension(ext); ext != "" && t != "" {
		return t
	}
	return "application/octet-stream"
}

func compressible(contentType string) bool {
	t, _, _ := strings.Cut(contentType, ";")
	return strings.HasPrefix(t, "text/") || strings.HasSuffix(t, "xml") ||
		strings.HasSuffix(t, "json") || strings.HasSuffix(t, "javascript")
}
