package crawl_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"golang.org/x/net/html"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/webtest"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/process"
)

const benchConfig = `
[crawler]
max-depth = 0
max-concurrent-pages-open = %d
minimum-time-on-page = %d
max-domain-requests = 1000000
max-pages = %d
[politeness]
minimum-time-per-address = "0s"
adaptive-delay = false
[traps]
max-per-prefix = 0
max-queries-per-path = 0
[network]
http2 = %t
`

const (
	benchHosts = 600
	benchOpen  = 64
)

// A benchWeb is 600 hosts of documentation: real pages of the folder that RIPPLE_DOCS names, or
// else generated ones of the same size and number of links.
type benchWeb struct {
	server  *webtest.Server
	origins strings.Builder // of the configuration
}

func newBenchWeb(b *testing.B) *benchWeb {
	b.Helper()
	w := &benchWeb{server: crawltest.Serve(b, webtest.WithoutLog())}
	if root := os.Getenv("RIPPLE_DOCS"); root != "" {
		w.serveDocs(b, root)
		return w
	}
	generated := w.server.Generate(1,
		webtest.GenConfig{Hosts: benchHosts, Pages: max(2000, benchPages()/30), Leave: 0.1})
	w.origin("gen.test", generated.Seeds())
	return w
}

// serveDocs distributes the documentation folders evenly over the hosts.
func (w *benchWeb) serveDocs(b *testing.B, root string) {
	b.Helper()
	all := crawltest.Documentations(b, root)
	for _, d := range all {
		w.server.Host("*." + d.Host).Folder(d.Files)
		var seeds []string
		for i := range benchHosts / len(all) {
			seeds = append(seeds, fmt.Sprintf("https://h%d.%s%s", i, d.Host, d.Front))
		}
		w.origin(d.Host, seeds)
	}
}

func (w *benchWeb) origin(domain string, seeds []string) {
	fmt.Fprintf(&w.origins, "[[quality]]\ndomain = \"*.%s\"\nseeds = [\"%s\"]\n", domain, strings.Join(seeds, `", "`))
}

func benchPages() int { return crawltest.Number("RIPPLE_BENCH_PAGES", 12_000) }

// BenchmarkCrawl crawls with everything durable. Then it fetches the same pages in the same order
// and reads them with the tokenizer of x/net, without recording and without delays; both halves use
// transports with the same settings, and begin without connections. "of-bare" is the crawl's speed
// relative to that; "of-bare-cpu" is the same for processor time, which is more meaningful on a
// busy machine. The server runs in this process in both halves.
func BenchmarkCrawl(b *testing.B) {
	web := newBenchWeb(b)
	if os.Getenv("RIPPLE_DOCS") != "" {
		web.crawl(b, true) // the server compresses a file at its first request
	}
	for _, http2 := range []bool{true, false} {
		b.Run(fmt.Sprintf("http2=%t", http2), func(b *testing.B) {
			var crawling, fetching time.Duration
			var crawlCPU, fetchCPU time.Duration
			pages, known := 0, 0
			for b.Loop() {
				before := process.CPUTime()
				r := web.crawl(b, http2)
				between := process.CPUTime()
				fetching += web.fetch(b, r.visited, http2)
				crawling, pages, known = crawling+r.took, pages+len(r.visited), r.known
				crawlCPU, fetchCPU = crawlCPU+between-before, fetchCPU+process.CPUTime()-between
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(pages)/crawling.Seconds(), "pages/s")
			b.ReportMetric(float64(pages)/fetching.Seconds(), "bare-pages/s")
			b.ReportMetric(fetching.Seconds()/crawling.Seconds(), "of-bare")
			b.ReportMetric(float64(crawlCPU.Microseconds())/float64(pages), "cpu-us/page")
			b.ReportMetric(float64(fetchCPU)/float64(crawlCPU), "of-bare-cpu")
			b.ReportMetric(float64(known), "URLs")
		})
	}
}

// A benchRun is the result of a crawl.
type benchRun struct {
	visited []string // in order
	known   int      // URLs
	took    time.Duration
}

func (w *benchWeb) crawl(b *testing.B, http2 bool) benchRun {
	b.Helper()
	pages := benchPages()
	store := crawltest.Open(b, stateFile(b))
	cfg := crawltest.Parse(b, crawltest.Config(b, w.server, fmt.Sprintf(benchConfig, benchOpen, 100, pages, http2)+
		w.origins.String()))
	c, _, err := crawl.Begin(b.Context(), store, crawl.Options{Config: cfg, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	start := time.Now()
	res, err := c.Run(context.Background())
	took := time.Since(start)
	if err != nil || res.Run.Pages < pages {
		b.Fatalf("%d pages of %d: %s, %v", res.Run.Pages, pages, res.Run.End, err)
	}
	return benchRun{visited(b, store), store.URLs(), took}
}

// visited returns the requests, in order.
func visited(b *testing.B, store *kv.Store) []string {
	b.Helper()
	var urls []string
	err := store.View(func(tx *kv.Tx) error {
		return tx.Visits.Each(1, func(v *schema.Visit) (bool, error) {
			if v.Requests > 0 {
				urls = append(urls, v.Form)
			}
			return true, nil
		})
	})
	if err != nil {
		b.Fatal(err)
	}
	return urls
}

// fetch requests pages with as many requests open as the crawl has, and returns how long that
// takes.
func (w *benchWeb) fetch(b *testing.B, urls []string, http2 bool) time.Duration {
	b.Helper()
	transport := w.transport(http2)
	defer transport.CloseIdleConnections()
	work := make(chan string)
	failed := make(chan error, benchOpen)
	var wg sync.WaitGroup
	start := time.Now()
	for range benchOpen {
		wg.Go(func() {
			r := bareReader{transport: transport}
			var first error
			for u := range work {
				if err := r.read(u); err != nil && first == nil {
					first = err
				}
			}
			failed <- first
		})
	}
	for _, u := range urls {
		work <- u
	}
	close(work)
	wg.Wait()
	took := time.Since(start)
	for range benchOpen {
		if err := <-failed; err != nil {
			b.Fatal(err)
		}
	}
	return took
}

// transport has the settings of the crawl's transport.
func (w *benchWeb) transport(http2 bool) *http.Transport {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(http2)
	t := w.server.Transport()
	t.TLSClientConfig.ClientSessionCache = tls.NewLRUClientSessionCache(512)
	t.MaxIdleConns, t.MaxIdleConnsPerHost, t.DisableCompression = 1024, 2, true
	t.Protocols = protocols
	t.HTTP2 = &http.HTTP2Config{MaxReceiveBufferPerConnection: 4 << 20, MaxReceiveBufferPerStream: 1 << 20}
	return t
}

// A bareReader fetches pages and reads their tags and attributes.
type bareReader struct {
	transport *http.Transport
	gzip      gzip.Reader
	body      bytes.Buffer
}

func (r *bareReader) read(url string) error {
	if err := r.fetch(url); err != nil {
		return err
	}
	for z := html.NewTokenizer(&r.body); ; {
		switch z.Next() {
		case html.ErrorToken:
			return nil
		case html.StartTagToken, html.SelfClosingTagToken:
			for _, more := z.TagName(); more; {
				_, _, more = z.TagAttr()
			}
		}
	}
}

// fetch reads and decompresses a body; anything but a page has none.
func (r *bareReader) fetch(url string) error {
	r.body.Reset()
	req, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Accept-Encoding", "gzip")
	resp, err := r.transport.RoundTrip(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body := io.Reader(resp.Body)
	if resp.StatusCode != http.StatusOK {
		_, err := io.Copy(io.Discard, body)
		return err
	}
	if resp.Header.Get("Content-Encoding") == "gzip" {
		if err := r.gzip.Reset(body); err != nil {
			return err
		}
		body = &r.gzip
	}
	if _, err := r.body.ReadFrom(body); err != nil {
		return fmt.Errorf("%s: %w", url, err)
	}
	return nil
}
