package fetch

import (
	"context"
	"net/http"
	"strings"
	"testing"
)

func TestAcceptAndCut(t *testing.T) {
	body := strings.Repeat("0123456789", 100)
	c, url := serve(t, Config{Compress: true}, func(w http.ResponseWriter, r *http.Request) {
		data := []byte(body)
		if r.URL.Path == "/gzip" {
			w.Header().Set("Content-Encoding", "gzip")
			data = encode(t, data, "gzip")
		}
		w.Header().Set("Content-Type", "text/html")
		w.Write(data)
	})
	tests := []struct {
		path  string
		limit int64
		cut   bool
		want  int
		cause Cause
	}{
		{"/", 1000, false, 1000, None},
		{"/", 999, false, 0, TooLarge}, // declared: nothing is read
		{"/", 999, true, 999, None},
		{"/", 0, false, 0, None},
		{"/gzip", 1000, false, 1000, None},
		{"/gzip", 999, false, 999, TooLarge},
		{"/gzip", 999, true, 999, None},
	}
	for _, tt := range tests {
		limit := func(status int, h http.Header) int64 {
			if status != 200 || h.Get("Content-Type") != "text/html" {
				t.Errorf("asked with %d, %v", status, h)
			}
			return tt.limit
		}
		res, err := do(c, context.Background(), Request{URL: url + tt.path, Accept: limit, Cut: tt.cut})
		if causeOf(t, err) != tt.cause || string(res.Body) != body[:tt.want] || res.Size != int64(tt.want) {
			t.Errorf("%+v: %d bytes, %v", tt, len(res.Body), err)
		}
	}
}

func TestSniff(t *testing.T) {
	tests := []struct {
		body, encoding, want string
		status               int
	}{
		{"<!doctype html><title>x</title>", "", "text/html", 200},
		{"<!doctype html>" + strings.Repeat("x", 99_999), "gzip", "text/html", 200},
		{"\x89PNG\r\n\x1a\n", "", "image/png", 200},
		{"", "", "", 200},
		{"<html>", "", "", 404},
	}
	for _, tt := range tests {
		c, url := serve(t, Config{Compress: true}, func(w http.ResponseWriter, r *http.Request) {
			w.Header()["Content-Type"] = nil
			if tt.encoding != "" {
				w.Header().Set("Content-Encoding", tt.encoding)
			}
			w.WriteHeader(tt.status)
			w.Write(encode(t, []byte(tt.body), tt.encoding))
		})
		var asked string
		res, err := do(c, context.Background(), Request{URL: url, Accept: func(_ int, h http.Header) int64 {
			asked = h.Get("Content-Type")
			return 1 << 20
		}})
		if err != nil || res.Sniffed != tt.want || asked != tt.want || string(res.Body) != tt.body {
			t.Errorf("%.20q: sniffed %q, asked %q, %d bytes, %v", tt.body, res.Sniffed, asked, len(res.Body), err)
		}
	}
}

// An invalid type does not count as declared.
func TestSniffFaulty(t *testing.T) {
	for declared, want := range map[string]string{
		"text": "text/html", ";charset=utf-8": "text/html", "*/*": "text/html", "": "text/html",
		"image/png;;": "image/png;;",
	} {
		c, url := serve(t, Config{}, func(w http.ResponseWriter, r *http.Request) {
			w.Header()["Content-Type"] = []string{declared}
			w.Write([]byte("<html>"))
		})
		res, err := do(c, context.Background(), Request{URL: url})
		if got := res.Header.Get("Content-Type"); err != nil || got != want {
			t.Errorf("%q: %q, %v; want %q", declared, got, err, want)
		}
	}
}

// Several Content-Type fields form one list.
func TestSeveralTypes(t *testing.T) {
	c, url := serve(t, Config{}, func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Content-Type"] = []string{"text/html; charset=koi8-r", "text/html"}
		w.Write([]byte("x"))
	})
	var asked string
	res, err := do(c, context.Background(), Request{URL: url, Accept: func(_ int, h http.Header) int64 {
		asked = h.Get("Content-Type")
		return 10
	}})
	const want = "text/html; charset=koi8-r, text/html"
	if err != nil || asked != want || res.Header.Get("Content-Type") != want {
		t.Errorf("asked with %q, answered with %q, %v; want %q", asked, res.Header.Values("Content-Type"), err, want)
	}
}

func TestHead(t *testing.T) {
	c, url := serve(t, Config{Compress: true, KeepAlive: true}, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Content-Length", "1000000000")
	})
	res, err := do(c, context.Background(),
		Request{Method: "HEAD", URL: url, Accept: func(int, http.Header) int64 { return 1 }})
	if err != nil || res.Status != 200 || len(res.Body) != 0 || res.Header.Get("Content-Length") != "1000000000" {
		t.Errorf("%+v, %v", res, err)
	}
}
