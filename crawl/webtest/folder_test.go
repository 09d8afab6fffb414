package webtest

import (
	"net/http"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

func TestFolder(t *testing.T) {
	at := time.Date(2026, 1, 15, 10, 30, 0, 0, time.UTC)
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text), ModTime: at} }
	s := newServer(t)
	s.Host("docs.test").Folder(fstest.MapFS{
		"index.html":          file("front"),
		"guide/index.html":    file("guide"),
		"guide/a b.html":      file("spaced"),
		"empty/readme.txt":    file("text"),
		"manual.PDF":          file("%PDF"),
		"img/x.png":           file("png"),
		"data/unknown.zzzzzz": file("?"),
		"sitemap.xml":         file("<urlset/>"),
	})
	s.Host("docs.test").Page("/guide/page", "routes come first")
	c := newClient(t, s)
	for _, tt := range []struct {
		path, body, contentType, location string
		status                            int
	}{
		{"/", "front", "text/html; charset=utf-8", "", 200},
		{"/index.html", "front", "text/html; charset=utf-8", "", 200},
		{"/guide/", "guide", "text/html; charset=utf-8", "", 200},
		{"/guide", statusPage(301), "text/html", "/guide/", 301},
		{"/guide?a=b", statusPage(301), "text/html", "/guide/?a=b", 301},
		{"/guide/a%20b.html?x", "spaced", "text/html; charset=utf-8", "", 200},
		{"/guide/a%20b.html/", statusPage(404), "text/html; charset=utf-8", "", 404},
		{"/guide/page", "routes come first", "text/html; charset=utf-8", "", 200},
		{"/empty/", statusPage(404), "text/html; charset=utf-8", "", 404},
		{"/empty/readme.txt", "text", "text/plain; charset=utf-8", "", 200},
		{"/manual.PDF", "%PDF", "application/pdf", "", 200},
		{"/img/x.png", "png", "image/png", "", 200},
		{"/data/unknown.zzzzzz", "?", "application/octet-stream", "", 200},
		{"/sitemap.xml", "<urlset/>", "application/xml", "", 200},
		{"/../secret", statusPage(404), "text/html; charset=utf-8", "", 404},
		{"/%2e%2e/secret", statusPage(404), "text/html; charset=utf-8", "", 404},
		{"//index.html", statusPage(404), "text/html; charset=utf-8", "", 404},
		{"/none", statusPage(404), "text/html; charset=utf-8", "", 404},
	} {
		t.Run(tt.path, func(t *testing.T) {
			got := get(t, c, "https://docs.test"+tt.path)
			if got.StatusCode != tt.status || got.body != tt.body ||
				got.Header.Get("Content-Type") != tt.contentType || got.Header.Get("Location") != tt.location {
				t.Errorf("%d %q %v", got.StatusCode, got.body, got.Header)
			}
		})
	}
}

func TestFolderGzipAndValidators(t *testing.T) {
	text := strings.Repeat("words ", 1000)
	s := newServer(t)
	s.Host("docs.test").Folder(fstest.MapFS{
		"a.html": {Data: []byte(text), ModTime: time.Unix(1700000000, 0)},
		"a.png":  {Data: []byte(text)},
	})
	c := newClient(t, s)
	for range 2 { // compressed, then from the cache
		got := get(t, c, "https://docs.test/a.html", "Accept-Encoding", "gzip")
		if got.Header.Get("Content-Encoding") != "gzip" || len(got.body) > 200 || decode(t, "gzip", got.body) != text {
			t.Errorf("%d bytes, %v", len(got.body), got.Header)
		}
	}
	if got := get(t, c, "https://docs.test/a.png", "Accept-Encoding",
		"gzip"); got.Header.Get("Content-Encoding") != "" {
		t.Error("an image is compressed")
	}
	tag := get(t, c, "https://docs.test/a.html").Header.Get("Etag")
	if got := get(t, c, "https://docs.test/a.html", "If-None-Match", tag); tag == "" ||
		got.StatusCode != http.StatusNotModified {
		t.Errorf("tag %q is answered with %d", tag, got.StatusCode)
	}
}
