package crawl

import (
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/fetch"
	"github.com/sumi-ripple/ripple/crawl/webtest"
	"github.com/sumi-ripple/ripple/crawl/webtest/nameserver"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema/config"
)

// withNames returns a machine whose name server gives the answers of a function.
func withNames(t testing.TB, answer func(name string) nameserver.Answer) *Shared {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	names := nameserver.Serve(conn, answer)
	t.Cleanup(func() { names.Close() })
	m := NewShared(0)
	m.clients.Resolver = fetch.NewResolver(names.Resolver())
	return m
}

// onLoopback returns a machine whose name server knows some names, all at 127.0.0.1.
func onLoopback(t *testing.T, known func(name string) bool) *Shared {
	t.Helper()
	return withNames(t, func(name string) nameserver.Answer {
		if known(name) {
			return nameserver.At([4]byte{127, 0, 0, 1})
		}
		return nameserver.Unknown()
	})
}

const addressGap = 80 * time.Millisecond

// dialled returns the configuration of a crawl that looks up its hosts by name.
func dialled(t *testing.T, web *webtest.Server, host, keys string) *config.Config {
	t.Helper()
	return crawltest.Parse(t, crawltest.Config(t, web, fmt.Sprintf(`
[crawler]
max-depth = 1
max-concurrent-pages-open = 20
%s
[retry]
max-retries = 0
[politeness]
minimum-time-per-address = %q
adaptive-delay = false
[network]
connect-to = {}
allow-private = ["127.0.0.0/8"]
[[quality]]
domain = %q
seeds = ["https://%s:%s/"]
`, keys, addressGap, host, host, portOf(web))))
}

func portOf(web *webtest.Server) string {
	_, port, _ := net.SplitHostPort(web.Addr())
	return port
}

// begin starts a crawl of a new state file.
func (m *Shared) begin(t testing.TB, cfg *config.Config) *Crawl {
	t.Helper()
	store := crawltest.Open(t, filepath.Join(t.TempDir(), "state.bolt"))
	c, _, err := Begin(t.Context(), store, Options{Config: cfg, Log: slog.New(slog.DiscardHandler), Shared: m})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// If the file has hosts, another process may have requested any address just before it was killed.
func TestAddressesOfAnotherProcess(t *testing.T) {
	t.Parallel()
	for _, known := range []bool{false, true} {
		store := crawltest.Open(t, filepath.Join(t.TempDir(), "state.bolt"))
		if known {
			err := store.Update(func(tx *kv.Tx) error { _, err := tx.Hosts.Add("a.test"); return err })
			if err != nil {
				t.Fatal(err)
			}
		}
		m := NewShared(0)
		cfg := crawltest.Parse(t, crawltest.Paper("[[quality]]\ndomain = \"a.test\"\nseeds = [\"https://a.test/\"]\n"))
		if _, _, err := Begin(t.Context(), store,
			Options{Config: cfg, Log: slog.New(slog.DiscardHandler), Shared: m}); err != nil {
			t.Fatal(err)
		}
		if _, free := m.clocks.Ask("192.0.2.1", time.Hour, time.Now()); free == known {
			t.Errorf("hosts known %t: an address may be asked at once: %t", known, free)
		}
	}
}

// checkAddressGaps checks the address gap between requests, none of which was sent before a crawl
// began. A busy machine may delay one request and not the next, so it counts how many may have
// arrived at each time.
func checkAddressGaps(t *testing.T, began time.Time, log []webtest.Entry) {
	t.Helper()
	for i, e := range log {
		if took := e.Arrived.Sub(began); took < time.Duration(i)*addressGap {
			t.Errorf("%s%s is asked after %v as number %d", e.Host, e.Path, took, i+1)
		}
	}
}

// Hosts whose names are found only as www. share the clock of their address.
func TestAddressOfAnotherForm(t *testing.T) {
	t.Parallel()
	web := crawltest.Serve(t)
	var links []string
	for i := range 25 {
		name := fmt.Sprintf("h%d.test", i)
		links = append(links, "https://"+name+":"+portOf(web)+"/")
		web.Host("www."+name).Page("/", "<title>here</title>")
	}
	web.Host("start.test").Page("/", crawltest.Anchors(links...))
	m := onLoopback(t, func(name string) bool { return name == "start.test" || strings.HasPrefix(name, "www.") })
	c := m.begin(t, dialled(t, web, "start.test", ""))
	began := time.Now()
	if res, err := c.Run(t.Context()); err != nil || !res.Walked || res.Run.Pages != 26 {
		t.Fatalf("%+v, %v", res, err)
	}
	log := web.Log()
	if len(log) != 2*26 {
		t.Errorf("%d requests, want %d", len(log), 2*26)
	}
	checkAddressGaps(t, began, log)
}

// Two crawls on one machine together keep the gap of an address, and a change by one does not
// disturb the other.
func TestTwoCrawls(t *testing.T) {
	t.Parallel()
	web := crawltest.Serve(t)
	for _, name := range []string{"a.test", "b.test"} {
		var links []string
		for i := range 15 {
			path := fmt.Sprintf("/%d", i)
			links = append(links, path)
			web.Host(name).Page(path, "<title>a page</title>")
		}
		web.Host(name).Page("/", crawltest.Anchors(links...))
	}
	m := onLoopback(t, func(string) bool { return true })
	one, other := m.begin(t, dialled(t, web, "a.test", "")), m.begin(t, dialled(t, web, "b.test", ""))
	if one.committer.set.Client != other.committer.set.Client {
		t.Error("crawls with equal settings have clients of their own")
	}
	var g errgroup.Group
	began := time.Now()
	for _, c := range []*Crawl{one, other} {
		g.Go(func() error {
			res, err := c.Run(t.Context())
			if err == nil && (!res.Walked || res.Run.Pages != 16 || res.Run.Requests != 17) {
				err = fmt.Errorf("%+v", res)
			}
			return err
		})
	}
	for len(web.Log()) < 6 {
		time.Sleep(10 * time.Millisecond)
	}
	one.Reload(dialled(t, web, "a.test", "max-links-per-page = 500"))
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	log := web.Log()
	if len(log) != 2*17 {
		t.Errorf("%d requests, want %d", len(log), 2*17)
	}
	checkAddressGaps(t, began, log)
	conns := map[uint64]bool{}
	for _, e := range log {
		if strings.HasPrefix(e.Host, "b.test") {
			conns[e.Conn] = true
		}
	}
	if len(conns) != 1 {
		t.Errorf("b.test was asked over %d connections, want 1", len(conns))
	}
	for _, bad := range webtest.CheckLog(log, webtest.MinGap(100*time.Millisecond, 5*time.Millisecond),
		webtest.MaxOpen(1, 0), webtest.RobotsFirst()) {
		t.Error(bad)
	}
}
