package crawl_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/webtest"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema/config"
)

const benchConfig = `
[crawler]
max-depth = 0
max-concurrent-pages-open = 64
minimum-time-on-page = 100
max-domain-requests = 1000000
max-pages = %d
head-check = "never"
sitemaps = "off"
[politeness]
minimum-time-per-address = "0s"
adaptive-delay = false
[traps]
max-per-prefix = 0
[user-agent]
crawler-name = "BenchBot"
[network]
ca-file = %q
connect-to = { "*.test" = %q }
[[quality]]
domain = "*.gen.test"
seeds = [%s]
`

// benchWeb is 600 hosts of pages of the size and link count of real
// documentation.
func benchWeb(b *testing.B, hosts int) (*webtest.Server, *webtest.Web) {
	b.Helper()
	s := newServer(b, webtest.WithoutLog())
	return s, s.Generate(1, webtest.GenConfig{Hosts: hosts, Pages: 2000, Leave: 0.1})
}

func benchPages() int {
	if n, err := strconv.Atoi(os.Getenv("RIPPLE_BENCH_PAGES")); err == nil {
		return n
	}
	return 6000
}

// BenchmarkCrawl crawls with everything durable, and reports its speed as a
// ratio to fetching and tokenizing the very same pages without recording.
func BenchmarkCrawl(b *testing.B) {
	const hosts = 600
	s, web := benchWeb(b, hosts)
	pages := benchPages()
	bare := fetchAndTokenize(b, s, web, pages)
	for b.Loop() {
		dir := b.TempDir()
		ca, err := s.CAFile(dir)
		if err != nil {
			b.Fatal(err)
		}
		var seeds bytes.Buffer
		for i := range hosts {
			fmt.Fprintf(&seeds, "\"https://h%d.gen.test/\",", i)
		}
		cfg := parse(b, fmt.Sprintf(benchConfig, pages, ca, s.Addr(), seeds.String()))
		elapsed := timedCrawl(b, cfg, filepath.Join(dir, "state.bolt"))
		speed := float64(pages) / elapsed.Seconds()
		b.ReportMetric(speed, "pages/s")
		b.ReportMetric(speed/bare, "of-bare-fetch")
	}
	b.ReportMetric(bare, "bare-pages/s")
}

func timedCrawl(b *testing.B, cfg *config.Config, path string) time.Duration {
	b.Helper()
	store, err := kv.Open(path, kv.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	c, _, err := crawl.Begin(store, crawl.Options{Config: cfg, Log: quiet()})
	if err != nil {
		b.Fatal(err)
	}
	start := time.Now()
	res, err := c.Run(context.Background())
	if err != nil || res.Run.Pages < benchPages() {
		b.Fatalf("%d pages: %s, %v", res.Run.Pages, res.Reason, err)
	}
	return time.Since(start)
}

// fetchAndTokenize asks for the pages of a web with the same connections and
// reads them with the tokenizer of x/net, and does nothing else.
func fetchAndTokenize(b *testing.B, s *webtest.Server, web *webtest.Web, pages int) float64 {
	b.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(s.CAPEM())
	client := &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, s.Addr())
		},
		TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 2,
	}}
	defer client.CloseIdleConnections()
	var urls []string
	for u := range web.Pages() {
		if urls = append(urls, u); len(urls) == pages {
			break
		}
	}
	work := make(chan string)
	var wg sync.WaitGroup
	start := time.Now()
	for range 64 {
		wg.Go(func() {
			for u := range work {
				tokenize(client, u)
			}
		})
	}
	for _, u := range urls {
		work <- u
	}
	close(work)
	wg.Wait()
	return float64(pages) / time.Since(start).Seconds()
}

func tokenize(client *http.Client, url string) {
	resp, err := client.Get(url)
	if err != nil {
		return
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return
	}
	z := html.NewTokenizer(bytes.NewReader(body))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return
		case html.StartTagToken:
			for _, more := z.TagName(); more; {
				_, _, more = z.TagAttr()
			}
		}
	}
}
