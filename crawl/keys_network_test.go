package crawl_test

import (
	"bufio"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/webtest"
	"github.com/sumi-ripple/ripple/crawl/webtest/fault"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// A networkRow shows over real sockets that a key takes effect.
type networkRow struct {
	key          string
	a, b         string // TOML values
	with         string // further lines of the key's section
	also         string // further links of the first page, for keys that only show that way; it costs time
	seenA, seenB string
	see          func(*networkCrawl) string
}

// A networkCrawl is one crawl of the web of [serveNetwork].
type networkCrawl struct {
	server, second *webtest.Server
	visits         map[string]schema.Visit
	tries          []time.Duration // durations of connection attempts that never end; no pause can lengthen the shortest ones
	proxied        *atomic.Int64
	protos         func() string
}

const networkConfig = `
[crawler]
max-depth = 1
head-check = "never"
sitemaps = "off"
minimum-time-on-page = 100
`

func (row networkRow) text(value string, sections map[string][]string) string {
	section, name, _ := strings.Cut(row.key, ".")
	kept := slices.DeleteFunc(slices.Clone(sections[section]), func(l string) bool {
		set, _, _ := strings.Cut(l, " ")
		return set == name || strings.HasPrefix(row.with, set+" ")
	})
	var b strings.Builder
	b.WriteString(networkConfig)
	for _, s := range []string{"user-agent", "retry", "politeness", "content", "network"} {
		lines := sections[s]
		if s == section {
			lines = append(kept, strings.Split(row.with, "\n")...)
			if value != "" {
				lines = append(lines, name+" = "+value)
			}
		}
		fmt.Fprintf(&b, "[%s]\n%s\n", s, strings.Join(lines, "\n"))
	}
	return b.String() + "[[quality]]\ndomain = \"hub.test\"\nseeds = [\"https://hub.test/\"]\n"
}

// stuckPage is on a host to which connecting never succeeds.
const stuckPage = "https://stuck.test:1/"

func serveNetwork(s *webtest.Server, see *networkCrawl, also string) {
	links := []string{"/big", "/proto", "https://" + s.Addr() + "/"}
	if also != "" {
		links = append(links, also)
	}
	s.Host("hub.test").Page("/", crawltest.Anchors(links...))
	s.Host("hub.test").Page("/big", strings.Repeat("x", 50_000))
	s.Host("hub.test").Page("/silent", "x").Fault(fault.Silence)
	s.Host(s.Addr()).Page("/", "private")
	var mu sync.Mutex
	var protos []string
	s.Host("hub.test").Handle("/proto", func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		protos = append(protos, r.Proto)
		mu.Unlock()
		w.Header().Set("Content-Type", "text/html")
	})
	see.protos = func() string { mu.Lock(); defer mu.Unlock(); return strings.Join(protos, " ") }
}

func (row networkRow) crawl(t *testing.T, value string) string {
	see := &networkCrawl{server: crawltest.Serve(t), second: crawltest.Serve(t), proxied: new(atomic.Int64)}
	stuck := "127.0.0.1:1"
	if row.also == stuckPage {
		stuck = stuckListener(t)
	}
	serveNetwork(see.server, see, row.also)
	dir := t.TempDir()
	ca, err := see.server.CAFile(dir)
	if err != nil {
		t.Fatal(err)
	}
	proxy := connectProxy(t, see.server.Addr(), see.proxied)
	value = strings.NewReplacer("SERVER", see.server.Addr(), "SECOND", see.second.Addr(), "CA", ca, "PROXY",
		proxy).Replace(value)
	with := row
	with.with = strings.NewReplacer("CA", ca).Replace(row.with)
	text := with.text(value, map[string][]string{
		"user-agent": {`crawler-name = "NetBot"`, `crawler-version = "1.0"`},
		"retry":      {"max-retries = 0", `timeout = "30s"`, `connect-timeout = "30s"`}, // a busy machine cannot exceed them
		"politeness": {"adaptive-delay = false"},
		"network": {fmt.Sprintf("ca-file = %q", ca),
			fmt.Sprintf(`connect-to = { "*.test" = %q, "stuck.test:1" = %q }`, see.server.Addr(), stuck)},
	})
	store := crawltest.Open(t, filepath.Join(dir, "state.bolt"))
	c, _, err := crawl.Begin(t.Context(), store, crawl.Options{Config: crawltest.Parse(t, text),
		Log: slog.New(slog.DiscardHandler), OnRequest: func(q crawl.Request) {
			if strings.HasPrefix(q.URL, stuckPage) {
				see.tries = append(see.tries, time.Since(q.At))
			}
		}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if _, err := c.Run(ctx); err != nil {
		t.Fatal(err)
	}
	see.visits = map[string]schema.Visit{}
	err = store.View(func(tx *kv.Tx) error {
		return tx.Visits.Each(1, func(v *schema.Visit) (bool, error) {
			norm, err := tx.URLs.Norm(v.URL)
			see.visits[strings.TrimPrefix(norm, "https://")] = *v
			return true, err
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return row.see(see)
}

// stuckListener returns an address to which connecting never succeeds, because its queue is full.
func stuckListener(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	raw, err := l.(*net.TCPListener).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	shortQueue(t, raw)
	for range 8 { // fill it
		c, err := net.DialTimeout("tcp", l.Addr().String(), time.Second)
		if err != nil {
			break
		}
		t.Cleanup(func() { c.Close() })
	}
	return l.Addr().String()
}

// connectProxy tunnels to one address, whatever was requested, for clients with the password.
func connectProxy(t *testing.T, to string, tunnels *atomic.Int64) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var open sync.WaitGroup
	t.Cleanup(func() { l.Close(); open.Wait() })
	open.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			open.Go(func() { tunnel(c, to, tunnels) })
		}
	})
	return l.Addr().String()
}

func tunnel(c net.Conn, to string, tunnels *atomic.Int64) {
	defer c.Close()
	in := bufio.NewReader(c)
	r, err := http.ReadRequest(in)
	if err != nil {
		return
	}
	if r.Header.Get("Proxy-Authorization") != "Basic "+base64.StdEncoding.EncodeToString([]byte("user:secret")) {
		fmt.Fprint(c, "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
		return
	}
	server, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer server.Close()
	tunnels.Add(1)
	fmt.Fprint(c, "HTTP/1.1 200 Connected\r\n\r\n")
	go func() { io.Copy(server, in); server.Close() }()
	io.Copy(c, server)
}

func networkRows() []networkRow {
	agent := func(c *networkCrawl) string { return c.server.Log()[0].UserAgent }
	state := func(url string) func(*networkCrawl) string {
		return func(c *networkCrawl) string {
			url := strings.ReplaceAll(url, "SERVER", c.server.Addr())
			v, ok := c.visits[url]
			if !ok {
				return "not visited"
			}
			return v.State.String()
		}
	}
	silence := func(c *networkCrawl) string {
		for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(10 * time.Millisecond) {
			for _, e := range c.server.Log() {
				if e.Path == "/silent" && !e.Done.IsZero() { // a server notices a little late that a client has left
					return fmt.Sprint(e.Done.Sub(e.Arrived) > 10*time.Second)
				}
			}
		}
		return "never asked"
	}
	conns := func(c *networkCrawl) string {
		seen := map[uint64]bool{}
		for _, e := range c.server.Log() {
			if e.Host == "hub.test" {
				seen[e.Conn] = true
			}
		}
		return fmt.Sprint(len(seen) > 1)
	}
	language := func(c *networkCrawl) string { return c.server.Log()[0].Header.Get("Accept-Language") }
	return []networkRow{
		{key: "user-agent.accept-language", a: `"en,*;q=0.5"`, b: `"cy"`, see: language, seenA: "en,*;q=0.5", seenB: "cy"},
		{key: "user-agent.crawler-version", a: `"1.0"`, b: `"2.7"`, see: agent, seenA: "NetBot/1.0",
			seenB: "NetBot/2.7"},
		{key: "user-agent.contact-url", a: "", b: `"https://who.test/"`, see: agent, seenA: "NetBot/1.0",
			seenB: "NetBot/1.0 (+https://who.test/)"},
		{key: "user-agent.contact-email", a: "", b: `"me@who.test"`, see: agent, seenA: "NetBot/1.0",
			seenB: "NetBot/1.0 (me@who.test)"},
		{key: "retry.timeout", a: `"3s"`, b: `"16s"`, also: "/silent", see: silence, seenA: "false", seenB: "true"},
		{key: "retry.connect-timeout", a: `"2s"`, b: `"8s"`, also: stuckPage, see: func(c *networkCrawl) string {
			if len(c.tries) == 0 {
				return "never tried"
			}
			return fmt.Sprint(slices.Min(c.tries) >= 8*time.Second)
		}, seenA: "false", seenB: "true"},
		{key: "content.max-response-bytes", a: `"100kB"`, b: `"10kB"`, see: state("hub.test/big"), seenA: "processed",
			seenB: "failed"},
		{key: "content.compress", a: "true", b: "false",
			see:   func(c *networkCrawl) string { return c.server.Log()[0].Header.Get("Accept-Encoding") },
			seenA: "gzip, deflate, br, zstd", seenB: ""},
		{key: "network.ca-file", a: `"CA"`, b: `""`, see: state("hub.test/proto"), seenA: "processed",
			seenB: "not visited"},
		{key: "network.connect-to", a: `{ "*.test" = "SERVER" }`, b: `{ "*.test" = "SECOND" }`,
			see: func(c *networkCrawl) string { return fmt.Sprint(len(c.server.Log()) > 0) }, seenA: "true",
			seenB: "false"},
		{key: "network.allow-private", a: `[]`, b: `["127.0.0.0/8"]`, see: state("SERVER/"), seenA: "not visited",
			seenB: "processed"},
		{key: "network.http2", a: "true", b: "false", see: func(c *networkCrawl) string { return c.protos() },
			seenA: "HTTP/2.0", seenB: "HTTP/1.1"},
		{key: "network.keep-alive", a: "true", b: "false", see: conns, seenA: "false", seenB: "true"},
		{key: "network.proxy", a: `"http://user:secret@PROXY"`, b: `"http://user:wrong@PROXY"`, with: "connect-to = {}",
			see: func(c *networkCrawl) string {
				return fmt.Sprint(c.proxied.Load() > 0, c.visits["hub.test/proto"].State)
			}, seenA: "true processed", seenB: "false discovered"},
	}
}

// TestNetworkKeys crawls a small web twice for every key that only a real
// connection shows.
func TestNetworkKeys(t *testing.T) {
	t.Parallel()
	for _, row := range networkRows() {
		t.Run(row.key, func(t *testing.T) {
			t.Parallel()
			if got := row.crawl(t, row.a); got != row.seenA {
				t.Errorf("%s = %s: %s, want %s", row.key, row.a, got, row.seenA)
			}
			if got := row.crawl(t, row.b); got != row.seenB {
				t.Errorf("%s = %s: %s, want %s", row.key, row.b, got, row.seenB)
			}
		})
	}
}

// TestNoProxy exempts a host from the proxy with NO_PROXY.
func TestNoProxy(t *testing.T) {
	row := networkRow{key: "network.proxy", with: "connect-to = {}",
		see: func(c *networkCrawl) string {
			named := c.visits["hub.test/"].Proxy
			return fmt.Sprint(c.proxied.Load() > 0, strings.HasPrefix(named, "http://127.0.0.1:"))
		}}
	for env, want := range map[string]string{"": "true true", "hub.test": "false false"} {
		t.Run(env, func(t *testing.T) {
			t.Setenv("NO_PROXY", env)
			t.Setenv("no_proxy", env)
			if got := row.crawl(t, `"http://user:secret@PROXY"`); got != want {
				t.Errorf("NO_PROXY=%s: through the proxy %s, want %s", env, got, want)
			}
		})
	}
}
