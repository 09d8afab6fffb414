package crawl

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/fetch"
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

// TestSecondAddress has many hosts whose own address is dead and whose other one is
// the same: that one's clock holds, and nobody is blamed.
func TestSecondAddress(t *testing.T) {
	const hosts, gap = 12, 100 * time.Millisecond
	s := crawltest.Serve(t)
	_, port, _ := net.SplitHostPort(s.Addr())
	var all []string
	for i := range hosts {
		all = append(all, fmt.Sprintf("https://h%d.test:%s/", i, port))
		s.Host(fmt.Sprintf("h%d.test:%s", i, port)).Page("/", "<title>here</title>")
	}
	s.Host("h0.test:"+port).Page("/", crawltest.Anchors(all...))
	m := NewMachine(0)
	m.clients.Resolver = fetch.NewResolver(deadFirst(t))
	path := filepath.Join(t.TempDir(), "state.bolt")
	store := crawltest.Open(t, path)
	cfg := crawltest.Parse(t, crawltest.Config(t, s, fmt.Sprintf(secondAddressConfig, ":"+port)))
	begun := time.Now()
	c, _, err := Begin(t.Context(), store, Options{Config: cfg, Log: slog.New(slog.DiscardHandler), Machine: m})
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

// deadFirst is a name server: the host hN.test is at the address 127.0.1.N, where
// nobody listens, and at 127.0.0.1.
func deadFirst(t *testing.T) *net.Resolver {
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for buf := make([]byte, 512); ; {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			conn.WriteTo(bothAddresses(buf[:n]), from)
		}
	}()
	t.Cleanup(func() { conn.Close(); <-done })
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

func bothAddresses(question []byte) []byte {
	var p dnsmessage.Parser
	h, _ := p.Start(question)
	q, _ := p.Question()
	var host byte
	known, _ := fmt.Sscanf(q.Name.String(), "h%d.test.", &host)
	b := dnsmessage.NewBuilder(nil, dnsmessage.Header{ID: h.ID, Response: true, RecursionAvailable: true})
	b.StartQuestions()
	b.Question(q)
	b.StartAnswers()
	if known == 1 && q.Type == dnsmessage.TypeA {
		for _, a := range [][4]byte{{127, 0, 1, host}, {127, 0, 0, 1}} {
			b.AResource(dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, TTL: 60}, dnsmessage.AResource{A: a})
		}
	}
	msg, _ := b.Finish()
	return msg
}
