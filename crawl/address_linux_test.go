package crawl

import (
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/webtest/nameserver"
	"github.com/sumi-ripple/ripple/kv/survey"
)

const secondAddressConfig = `
[crawler]
max-concurrent-pages-open = 12
[network]
connect-to = {}
allow-private = ["127.0.0.0/8"]
[retry]
max-retries = 0
[politeness]
minimum-time-per-address = "100ms"
[[quality]]
domain = "h0.test"
seeds = ["https://h0.test%s/"]
`

// TestSecondAddress crawls many hosts whose own address is dead and whose other address is the
// same: the clock of the shared address holds, and no host is blamed.
func TestSecondAddress(t *testing.T) {
	t.Parallel()
	const hosts, gap = 12, 100 * time.Millisecond
	s := crawltest.Serve(t)
	_, port, _ := net.SplitHostPort(s.Addr())
	var all []string
	for i := range hosts {
		all = append(all, fmt.Sprintf("https://h%d.test:%s/", i, port))
		s.Host(fmt.Sprintf("h%d.test:%s", i, port)).Page("/", "<title>here</title>")
	}
	s.Host("h0.test:"+port).Page("/", crawltest.Anchors(all...))
	m := withNames(t, deadFirst)
	path := filepath.Join(t.TempDir(), "state.bolt")
	store := crawltest.Open(t, path)
	cfg := crawltest.Parse(t, crawltest.Config(t, s, fmt.Sprintf(secondAddressConfig, ":"+port)))
	begun := time.Now()
	c, _, err := Begin(t.Context(), store, Options{Config: cfg, Log: slog.New(slog.DiscardHandler), Shared: m})
	if err == nil {
		_, err = c.Run(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	store.Close()
	log := s.Log()
	if took, least := log[len(log)-1].Arrived.Sub(begun), time.Duration(len(log)-1)*gap; took < least {
		t.Errorf("%d requests to one address in %v, want at least %v", len(log), took, least)
	}
	visited := 0
	crawltest.EachPage(t, path, func(p *survey.Page) {
		if visited++; !p.Visited || p.Error != "" || p.Retries > 0 {
			t.Errorf("%s: visited %v, %q, %d retries", p.URL, p.Visited, p.Error, p.Retries)
		}
	})
	if visited != hosts {
		t.Errorf("%d pages, want %d", visited, hosts)
	}
}

// deadFirst resolves the host hN.test to 127.0.1.N, where nothing listens, and to 127.0.0.1.
func deadFirst(name string) nameserver.Answer {
	var host byte
	if known, _ := fmt.Sscanf(name, "h%d.test", &host); known == 0 {
		return nameserver.Unknown()
	}
	return nameserver.At([4]byte{127, 0, 1, host}, [4]byte{127, 0, 0, 1})
}
