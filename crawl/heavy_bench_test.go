package crawl_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/webtest"
	"github.com/sumi-ripple/ripple/crawl/webtest/prose"
	"github.com/sumi-ripple/ripple/schema/process"
)

const heavyConfig = `
[crawler]
max-depth = 0
head-check = "never"
sitemaps = "off"
max-domain-requests = 1
[retry]
timeout = "5m"
connect-timeout = "5m"
[politeness]
minimum-time-per-address = "0s"
adaptive-delay = false
[network]
max-open = %d
`

const heavyOpen = 1000

// BenchmarkHeavy crawls hosts that each have a robots.txt and one page of 240 kB that is worth
// following, so that every page costs a TLS handshake. RIPPLE_BENCH_HOSTS sets the number of hosts;
// a wide crawl meets 100,000 in an hour. Then it fetches the same list over plain net/http,
// robots.txt first, with the same concurrency and settings. "of-fetching" is the crawl's speed
// relative to fetching alone, and "of-bare" relative to fetching and tokenizing. "handshakes" is
// the handshakes' share of the crawl's processor time. Each half has a server of its own, in
// another process.
func BenchmarkHeavy(b *testing.B) {
	hosts := crawltest.Number("RIPPLE_BENCH_HOSTS", 2000)
	for b.Loop() {
		crawled := heavyRun(b, func(p *serverProcess) { p.crawlHeavy(b, hosts) })
		fetched := heavyRun(b, func(p *serverProcess) { p.fetchHeavy(b, hosts, (*bareReader).fetch) })
		read := heavyRun(b, func(p *serverProcess) { p.fetchHeavy(b, hosts, (*bareReader).read) })
		shaken := heavyRun(b, func(p *serverProcess) { p.shakeHands(b, min(hosts, 2000)) })
		perHandshake := shaken.cpu.Seconds() / float64(min(hosts, 2000))

		b.ReportMetric(0, "ns/op")
		b.ReportMetric(float64(hosts)/crawled.took.Seconds(), "pages/s")
		b.ReportMetric(float64(hosts*len(heavyPage()))/1e6/crawled.took.Seconds(), "MB/s")
		b.ReportMetric(crawled.cpu.Seconds()*1e6/float64(hosts), "cpu-us/page")
		b.ReportMetric(fetched.took.Seconds()/crawled.took.Seconds(), "of-fetching")
		b.ReportMetric(fetched.cpu.Seconds()/crawled.cpu.Seconds(), "of-fetching-cpu")
		b.ReportMetric(read.took.Seconds()/crawled.took.Seconds(), "of-bare")
		b.ReportMetric(read.cpu.Seconds()/crawled.cpu.Seconds(), "of-bare-cpu")
		b.ReportMetric(perHandshake*float64(crawled.conns)/crawled.cpu.Seconds(), "handshakes")
		b.ReportMetric(float64(crawled.conns)/float64(hosts), "conns/host")
		b.ReportMetric(float64(fetched.conns)/float64(hosts), "fetching-conns/host")
	}
}

// A heavyCost is what something cost this process, and how many connections it used.
type heavyCost struct {
	took, cpu time.Duration
	conns     int
}

func heavyRun(b *testing.B, do func(*serverProcess)) heavyCost {
	b.Helper()
	p := startServerOf(b, servedConfig{Heavy: true, Log: true})
	begun, busy := time.Now(), process.CPUTime()
	do(p)
	c := heavyCost{took: time.Since(begun), cpu: process.CPUTime() - busy}
	p.smallestGap(b)
	var err error
	if c.conns, err = strconv.Atoi(p.line(b)); err != nil {
		b.Fatal(err)
	}
	return c
}

// serveHeavy serves the same page, compressed once, on all hosts.
func serveHeavy(s *webtest.Server) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write(heavyPage()) // writing to a bytes.Buffer cannot fail
	_ = z.Close()
	all := s.Host("*.gen.test")
	all.Robots("User-agent: *\nDisallow: /search\n")
	all.Handle("/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(packed.Bytes()) // clients that disconnect are counted elsewhere
	})
}

// heavyPage is a page of 240 kB: half of it is styles and data for scripts, the other half is 200
// teasers in the markup of content systems, with links to 60 pages of its own host and 20 others.
var heavyPage = sync.OnceValue(func() []byte {
	const size, teasers = 240_000, 200
	stock, dice := prose.NewStock(1), &prose.Dice{State: 1}
	page := []byte("<!doctype html>\n<html lang=\"en\"><head><title>All our stories</title>\n<style>")
	for i := 0; len(page) < size/6; i++ {
		page = fmt.Appendf(page, ".c-%d{margin:0 auto;padding:%dpx;color:#%06x}\n", i, i%32, dice.Next()%0xffffff)
	}
	page = append(page, "</style></head><body><main>\n"...)
	begin, room := len(page), size/2
	for i := range teasers {
		to := fmt.Sprintf("/stories/%d", i%60)
		if i%10 == 9 {
			to = fmt.Sprintf("https://friend%d.test/", i/10)
		}
		page = fmt.Appendf(page, `<article class="c-%d teaser" data-id="%x"><div class="inner">`, i, dice.Next())
		page = fmt.Appendf(page, `<h2><a href="%s" rel="bookmark">`, to)
		page = append(stock.AppendTitle(page, dice), "</a></h2><p>"...)
		page = stock.AppendText(page, dice, max(0, begin+room*(i+1)/teasers-len(page)-30))
		page = append(page, "</p></div></article>\n"...)
	}
	page = append(page, "</main><script type=\"application/json\">["...)
	for len(page) < size {
		page = fmt.Appendf(page, `{"id":"%x","kind":"story"},`, dice.Next())
	}
	return append(page, "{}]</script></body></html>\n"...)
})

func (p *serverProcess) crawlHeavy(b *testing.B, hosts int) {
	b.Helper()
	text := crawltest.Complete(fmt.Sprintf(heavyConfig, heavyOpen), p.ca, p.addr) + waitingSeeds(hosts)
	store := crawltest.Open(b, stateFile(b))
	c, _, err := crawl.Begin(b.Context(), store, crawl.Options{
		Config: crawltest.Parse(b, text), Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		b.Fatal(err)
	}
	res, err := c.Run(context.Background())
	if err != nil || res.Run.Pages < hosts {
		b.Fatalf("%d pages of %d: %s, %v", res.Run.Pages, hosts, res.Run.End, err)
	}
}

// fetchHeavy requests the robots.txt of each host and then its page.
func (p *serverProcess) fetchHeavy(b *testing.B, hosts int, read func(*bareReader, string) error) {
	b.Helper()
	transport := p.transport(b)
	defer transport.CloseIdleConnections()
	work, failed := make(chan int), make(chan error, heavyOpen)
	var wg sync.WaitGroup
	for range heavyOpen {
		wg.Go(func() {
			r := bareReader{transport: transport}
			var first error
			for host := range work {
				for _, path := range []string{"/robots.txt", "/"} {
					if err := read(&r, fmt.Sprintf("https://h%d.gen.test%s", host, path)); err != nil && first == nil {
						first = err
					}
				}
			}
			failed <- first
		})
	}
	for host := range hosts {
		if host%1000 == 999 {
			transport.CloseIdleConnections() // the transport does not limit those of HTTP/2
		}
		work <- host
	}
	close(work)
	wg.Wait()
	for range heavyOpen {
		if err := <-failed; err != nil {
			b.Fatal(err)
		}
	}
}

// transport has the settings of the crawl's transport.
func (p *serverProcess) transport(b *testing.B) *http.Transport {
	b.Helper()
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	return &http.Transport{
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, p.addr)
		},
		TLSClientConfig:     p.tlsConfig(b),
		MaxIdleConns:        1024,
		MaxIdleConnsPerHost: 2,
		DisableCompression:  true,
		Protocols:           protocols,
		HTTP2: &http.HTTP2Config{MaxReceiveBufferPerConnection: 4 << 20,
			MaxReceiveBufferPerStream: 1 << 20},
	}
}

func (p *serverProcess) tlsConfig(b *testing.B) *tls.Config {
	b.Helper()
	pem, err := os.ReadFile(p.ca)
	if err != nil {
		b.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	return &tls.Config{
		RootCAs: roots, ClientSessionCache: tls.NewLRUClientSessionCache(heavyOpen),
		CurvePreferences: []tls.CurveID{tls.X25519, tls.CurveP256}, NextProtos: []string{"h2", "http/1.1"},
	}
}

// shakeHands connects to hosts, one after another, and sends no request.
func (p *serverProcess) shakeHands(b *testing.B, hosts int) {
	b.Helper()
	cfg := p.tlsConfig(b)
	for host := range hosts {
		cfg := cfg.Clone()
		cfg.ServerName = fmt.Sprintf("h%d.gen.test", host)
		c, err := tls.Dial("tcp", p.addr, cfg)
		if err != nil {
			b.Fatal(err)
		}
		c.Close()
	}
}
