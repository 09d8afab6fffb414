package webtest

import (
	"bytes"
	"net/http"
	"strconv"

	"github.com/klauspost/compress/gzip"

	"github.com/sumi-ripple/ripple/crawl/webtest/prose"
)

// respond answers for a page of a generated web.
func (w *Web) respond(x *exchange, r *http.Request) {
	host, ok := w.names.host(bareHost(x.entry.Host))
	if !ok {
		notFound(x)
		return
	}
	if r.RequestURI == "/robots.txt" && w.cfg.Robots != "" {
		w.plain(w.cfg.Robots).send(x, r)
		return
	}
	switch at, ok := w.names.parsePath(host, r.RequestURI); {
	case ok && at.kind == page:
		w.sendPage(x, r, at)
	case ok && at.kind == moved:
		a := answer{status: http.StatusMovedPermanently}
		a.header = http.Header{"Location": {w.names.url(w.movedTo(at))}}
		a.send(x, r)
	default:
		notFound(x)
	}
}

func (w *Web) plain(text string) answer {
	header := http.Header{"Content-Type": {"text/plain; charset=utf-8"}}
	return answer{status: http.StatusOK, header: header, body: []byte(text)}
}

func (w *Web) sendPage(x *exchange, r *http.Request, at place) {
	tag := `"` + strconv.FormatUint(prose.Mix(w.seed, at.host, at.n), 36) + `"`
	a := answer{status: http.StatusOK, header: http.Header{
		"Content-Type": {"text/html; charset=utf-8"}, "Etag": {tag},
	}}
	buf := w.buffers.Get().(*[]byte)
	defer w.buffers.Put(buf)
	*buf = w.appendPage((*buf)[:0], at)
	a.body = *buf
	if w.cfg.Gzip {
		if a.coding = acceptedCoding(r.Header, []string{"gzip"}); a.coding != "" {
			f := w.encoders.Get().(*fastGzip)
			defer w.encoders.Put(f)
			a.body = f.encode(a.body)
		}
	}
	a.send(x, r)
}

// A fastGzip is a reusable encoder.
type fastGzip struct {
	buf bytes.Buffer
	enc *gzip.Writer
}

func newFastGzip() *fastGzip {
	enc, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // the level is valid
	return &fastGzip{enc: enc}
}

// encode returns bytes that are valid until the next call.
func (f *fastGzip) encode(body []byte) []byte {
	f.buf.Reset()
	f.enc.Reset(&f.buf)
	_, _ = f.enc.Write(body) // a bytes.Buffer takes everything
	_ = f.enc.Close()
	return f.buf.Bytes()
}

// appendPage writes the page: ten anchors in nav, most in main with prose between them, twenty in the
// footer. The first anchors are the distinct ones.
func (w *Web) appendPage(b []byte, at place) []byte {
	var buf [64]place
	targets := w.targets(buf[:0], at)
	r := &prose.Dice{State: prose.Mix(w.seed, at.host, at.n, 0x9a6e)}
	b = w.appendHead(b, at, r)
	anchors := max(w.cfg.Hrefs, len(targets))
	if len(targets) == 0 {
		anchors = 0
	}
	inMain, text := max(anchors-30, 1), w.cfg.Size-len(b)-75*anchors
	for i := range anchors {
		if i == min(10, anchors-1) {
			b = append(b, "</ul></nav>\n<main>\n"...)
		}
		if i == anchors-20 {
			b = append(b, "</main>\n<footer>\n"...)
		}
		k := i
		if i >= len(targets) {
			k = int(r.Next() % uint64(len(targets)))
		}
		if i >= 10 && i < anchors-20 {
			b = w.prose.AppendText(b, r, text/inMain)
		}
		b = w.appendAnchor(b, at, targets[k], r)
	}
	return append(b, "</footer>\n</body></html>\n"...)
}

func (w *Web) appendHead(b []byte, at place, r *prose.Dice) []byte {
	b = append(b, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<title>"...)
	b = w.prose.AppendTitle(b, r)
	b = append(b, ", no. "...)
	b = strconv.AppendUint(b, at.n, 10)
	b = append(b, "</title>\n<link rel=\"stylesheet\" href=\"/style.css\">\n</head><body>\n<nav><ul>"...)
	return b
}

// appendAnchor spells the target in one way per page, as sites do: half with dots, some from the root,
// some as full URLs.
func (w *Web) appendAnchor(b []byte, from, to place, r *prose.Dice) []byte {
	b = append(b, `<a href="`...)
	b = w.appendHref(b, from, to)
	b = append(b, `">`...)
	b = w.prose.AppendTitle(b, r)
	return append(b, "</a>\n"...)
}

func (w *Web) appendHref(b []byte, from, to place) []byte {
	spelling := prose.Mix(w.seed, from.host, from.n, to.host, to.n, uint64(to.kind)) % 32
	if to.host != from.host || spelling < 5 {
		scheme := "https://"
		if spelling == 0 {
			scheme = "http://"
		}
		return w.names.appendPath(w.names.appendOrigin(b, scheme, to.host), to)
	}
	if spelling < 22 {
		if from.n != 0 {
			b = append(b, '.')
		}
		b = append(b, '.')
	}
	if b = w.names.appendPath(b, to); spelling == 31 {
		b = append(b, "#more"...)
	}
	return b
}
