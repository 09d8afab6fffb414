package fetch

import (
	"crypto/tls"
	"io"
	"net/http"
	"testing"
)

// BenchmarkDo measures a page of 30 KB over TLS on loopback, including the server. It compares Do
// with a bare client that reads the page with io.ReadAll.
func BenchmarkDo(b *testing.B) {
	body := sample(30_000)
	zipped := encode(b, body, "gzip")
	handler := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path == "/gzip" {
			w.Header().Set("Content-Encoding", "gzip")
			w.Write(zipped)
			return
		}
		w.Write(body)
	}
	for _, proto := range []string{"http1", "http2"} {
		c, url := serve(b, Config{UserAgent: "Ripple/1.0", KeepAlive: true, HTTP2: proto == "http2", MaxOpen: 10},
			handler)
		for _, path := range []string{"/plain", "/gzip"} {
			b.Run(proto+path, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if res, err := do(c, b.Context(), Request{URL: url + path}); err != nil ||
						len(res.Body) != len(body) {
						b.Fatal(err)
					}
				}
			})
		}
		b.Run(proto+"/bare", func(b *testing.B) { bare(b, url, proto == "http2", len(body)) })
	}
}

func bare(b *testing.B, url string, http2 bool, size int) {
	t := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: http2,
		DisableCompression: true}
	defer t.CloseIdleConnections()
	client := &http.Client{Transport: t}
	b.ReportAllocs()
	for b.Loop() {
		res, err := client.Get(url)
		if err != nil {
			b.Fatal(err)
		}
		data, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || len(data) != size {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	body, d := sample(100_000), new(decoders)
	for _, name := range []string{"gzip", "br", "zstd"} {
		data := encode(b, body, name)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				if got, err := decode(d, name, data, 1<<20); err != nil || len(got) != len(body) {
					b.Fatal(err)
				}
			}
		})
	}
}
