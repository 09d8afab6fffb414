package proof

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/webtest"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

const ssrfConfig = `
[crawler]
max-depth = 2
max-concurrent-pages-open = 50
head-check = "always"
sitemaps = "quality"
[retry]
max-retries = 0
connect-timeout = "1m"
timeout = "1m"
[network]
%s
[[quality]]
domain = "alpha.test"
seeds = ["https://alpha.test/"]
`

// forbiddenHosts are spellings of addresses that a web page must never make a crawler dial: every
// range that is not public, and the spellings that browsers accept.
func forbiddenHosts() []string {
	return []string{
		"0.0.0.1", "10.0.0.1", "100.64.0.1", "127.0.0.1", "127.255.255.254", "169.254.169.254", "172.16.0.1",
		"172.31.255.255",
		"192.0.0.1", "192.0.2.1", "192.168.0.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "240.0.0.1",
		"255.255.255.255",
		"127.1", "0x7f000001", "2130706433", "0177.0.0.1", "0x7f.1", "127.0.0.1.", "①②⑦.0.0.1", "%31%32%37.0.0.1",
		"[::1]", "[::]", "[::127.0.0.1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::ffff:10.0.0.1]",
		"[64:ff9b::7f00:1]", "[64:ff9b::10.0.0.1]",
		"[64:ff9b:1::1]", "[100::1]", "[2001::1]", "[2001:db8::1]", "[2002:7f00:1::]", "[fc00::1]", "[fd12:3456::1]",
		"[fe80::1]", "[fec0::1]", "[ff02::1]",
	}
}

// TestForbiddenAddresses links and redirects to every forbidden address, with the port of a
// listener on loopback that must not be dialled even once.
func TestForbiddenAddresses(t *testing.T) {
	t.Parallel()
	dialled, port := listening(t)
	s := crawltest.Serve(t)
	var links []string
	for i, host := range forbiddenHosts() {
		target := fmt.Sprintf("https://%s:%s/", host, port)
		from := fmt.Sprintf("/to-%d", i)
		s.Host("alpha.test").Redirect(from, target, http.StatusFound)
		links = append(links, target, "https://alpha.test"+from)
	}
	path := crawlForbidden(t, s, crawltest.Anchors(links...), "")
	known := 0
	crawltest.EachPage(t, path, func(p *survey.Page) {
		if p.HostName == "alpha.test" {
			return
		}
		known++
		if p.State != schema.Unreachable || !strings.Contains(p.Error, "address refused") {
			t.Errorf("%s is %s %q", p.URL, p.State, p.Error)
		}
	})
	if known < 30 {
		t.Errorf("%d addresses were recorded", known)
	}
	t.Logf("%d spellings, %d addresses, %d connections", len(forbiddenHosts()), known, dialled.Load())
	if dialled.Load() != 0 {
		t.Errorf("%d connections to loopback", dialled.Load())
	}
}

// TestAllowedAddresses allows one private range: it is dialled, and no other.
func TestAllowedAddresses(t *testing.T) {
	t.Parallel()
	dialled, port := listening(t)
	s := crawltest.Serve(t)
	front := crawltest.Anchors("https://127.0.0.1:"+port+"/", "https://[::1]:"+port+"/", "https://10.0.0.1:"+port+"/",
		"https://localhost:"+port+"/")
	path := crawlForbidden(t, s, front, `allow-private = ["127.0.0.0/8"]`)
	ends := map[string]string{}
	crawltest.EachPage(t, path, func(p *survey.Page) { ends[p.HostName] = p.State.String() + " " + p.Error })
	for host, want := range map[string]string{"[::1]": "address refused", "10.0.0.1": "address refused"} {
		if got := ends[host+":"+port]; !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", host, got, want)
		}
	}
	if got := ends["127.0.0.1:"+port]; strings.Contains(got, "address refused") || dialled.Load() == 0 {
		t.Errorf("127.0.0.1 is allowed, and: %q after %d connections", got, dialled.Load())
	}
}

func crawlForbidden(t *testing.T, s *webtest.Server, front, network string) string {
	t.Helper()
	s.Host("alpha.test").Page("/", front)
	w := newKillableWeb(t, s, fmt.Sprintf(ssrfConfig, network))
	if !w.crawl(t, 0) {
		t.Fatal("the crawl did not come to its end")
	}
	return w.state
}

// listening counts the connections to a port of loopback.
func listening(t *testing.T) (dialled *atomic.Int32, port string) {
	t.Helper()
	dialled = &atomic.Int32{}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			dialled.Add(1)
			_ = c.Close()
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
	_, port, err = net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return dialled, port
}
