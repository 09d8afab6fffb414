package crawl_test

import (
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

const badPortConfig = `
[network]
allow-private = ["127.0.0.0/8"]
[[quality]]
domain = "hub.test"
seeds = ["https://hub.test/"]
`

// TestBadPorts follows links to ports of other services: they are unreachable, and neither the page
// nor robots.txt is requested. No connection is made either.
func TestBadPorts(t *testing.T) {
	t.Parallel()
	var connections atomic.Int64
	var links []string
	for _, port := range []int{22, 25, 2049, 5060, 6667, 10080} {
		listenAt(t, port, &connections)
		links = append(links, fmt.Sprintf("https://127.0.0.1:%d/page", port),
			fmt.Sprintf("http://name.invalid:%d/", port))
	}
	s := crawltest.Serve(t)
	s.Host("hub.test").Page("/", crawltest.Anchors(append(links, "https://mapped.test:25/")...))
	s.Host("mapped.test:25").Page("/", "<title>Mapped</title>")
	store := crawled(t, s, badPortConfig)

	err := crawltest.Survey(t, store).EachPage(func(p *survey.Page) error {
		want := schema.Unreachable
		if strings.Contains(p.URL, ".test") {
			want = schema.Processed // the server's own port, or one that the user connects to
		}
		if p.State != want {
			t.Errorf("%s is %s, %q; want %s", p.URL, p.State, p.Error, want)
		}
		why := schema.CauseRefusedPort.String() + ": port "
		if want == schema.Unreachable && !strings.HasPrefix(p.Error, why) {
			t.Errorf("%s: %q", p.URL, p.Error)
		}
		links = slices.DeleteFunc(links, func(link string) bool {
			return strings.Replace(link, "http:", "https:", 1) == p.URL
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(links) > 0 {
		t.Errorf("not in the map: %q", links)
	}
	if n := connections.Load(); n != 0 {
		t.Errorf("%d connections", n)
	}
}

// listenAt counts the connections to a port of this machine, if the port is free.
func listenAt(t *testing.T, port int, connections *atomic.Int64) {
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		t.Logf("nobody listens: %v", err)
		return
	}
	var open sync.WaitGroup
	t.Cleanup(func() { l.Close(); open.Wait() })
	open.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			connections.Add(1)
			c.Close()
		}
	})
}

// TestBadPortsBehindProxy requests such ports from a proxy, which has to refuse them itself.
func TestBadPortsBehindProxy(t *testing.T) {
	t.Parallel()
	s := crawltest.Serve(t)
	s.Host("hub.test:25").Page("/", crawltest.Anchors("https://leaf.test:6667/"))
	s.Host("leaf.test:6667").Page("/", "<title>Leaf</title>")
	var tunnels atomic.Int64
	proxy := connectProxy(t, s.Addr(), &tunnels)
	store := crawled(t, s, fmt.Sprintf(`
[network]
connect-to = {}
proxy = "http://user:secret@%s"
[[quality]]
domain = "hub.test"
seeds = ["https://hub.test:25/"]
`, proxy))
	pages := 0
	err := crawltest.Survey(t, store).EachPage(func(p *survey.Page) error {
		if pages++; p.State != schema.Processed {
			t.Errorf("%s is %s, %q", p.URL, p.State, p.Error)
		}
		return nil
	})
	if err != nil || pages != 2 || tunnels.Load() == 0 {
		t.Errorf("%d pages by %d tunnels, %v", pages, tunnels.Load(), err)
	}
}
