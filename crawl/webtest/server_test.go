package webtest

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/sumi-ripple/ripple/crawl/webtest/fault"
)

func TestMain(m *testing.M) {
	log.SetOutput(io.Discard) // the client's remarks on faulty answers
	goleak.VerifyTestMain(m)
}

// newServer starts a server that ends with the test.
func newServer(t testing.TB, opts ...Option) *Server {
	t.Helper()
	s, err := New(opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close server: %v", err)
		}
	})
	return s
}

// newClient returns a client that trusts the server, connects every name to it and follows no redirect.
func newClient(t testing.TB, s *Server) *http.Client {
	t.Helper()
	transport := s.Transport()
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{
		Transport: transport, Timeout: time.Minute,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

type reply struct {
	*http.Response
	body string
}

func get(t testing.TB, c *http.Client, url string, header ...string) reply {
	t.Helper()
	return ask(t, c, http.MethodGet, url, header...)
}

func ask(t testing.TB, c *http.Client, method, url string, header ...string) reply {
	t.Helper()
	req, err := http.NewRequest(method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{resp, string(body)}
}

// Every port serves all names until the server is closed.
func TestMorePorts(t *testing.T) {
	s := newServer(t, WithMorePorts(2))
	s.Host("a.test").Page("/", "here")
	all := s.Addrs()
	if len(all) != 3 || all[0] != s.Addr() || all[1] == all[2] {
		t.Fatalf("addresses %v", all)
	}
	for _, addr := range all {
		c := newClient(t, s)
		c.Transport.(*http.Transport).DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", addr)
		}
		if got := get(t, c, "https://a.test/"); got.body != "here" {
			t.Errorf("%s: %q", addr, got.body)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, addr := range all {
		if c, err := net.Dial("tcp", addr); err == nil {
			c.Close()
			t.Errorf("%s is still listened at", addr)
		}
	}
}

func TestServerNames(t *testing.T) {
	s := newServer(t)
	s.Host("a.test").Page("/", "bare")
	s.Host("WWW.a.test").Page("/", "www")
	s.Host("a.test:8443").Page("/", "port")
	s.Host("*.wild.test").Page("/", "wild")
	s.Host("own.wild.test").Page("/", "own")
	c := newClient(t, s)
	tests := []struct {
		url, want string
		status    int
	}{
		{"https://a.test/", "bare", 200},
		{"https://A.test/", "bare", 200},
		{"https://a.test:443/", "bare", 200},
		{"https://www.a.test/", "www", 200},
		{"https://a.test:8443/", "port", 200},
		{"https://a.test:9000/", "bare", 200},
		{"https://x.wild.test/", "wild", 200},
		{"https://y.x.wild.test/", "wild", 200},
		{"https://own.wild.test/", "own", 200},
		{"https://wild.test/", statusPage(404), 404},
		{"https://unknown.test/", statusPage(404), 404},
		{"https://127.0.0.1/", statusPage(404), 404},
	}
	for _, tt := range tests {
		t.Run(tt.url, func(t *testing.T) {
			if got := get(t, c, tt.url); got.body != tt.want || got.StatusCode != tt.status {
				t.Errorf("%s = %d %q, want %d %q", tt.url, got.StatusCode, got.body, tt.status, tt.want)
			}
		})
	}
}

func TestServerProtocol(t *testing.T) {
	both := newServer(t)
	both.Host("one.test").HTTP1()
	both.Host("raw.test").Page("/bad", "").Fault(fault.Garbage)
	old := newServer(t, WithoutHTTP2())
	for _, tt := range []struct {
		server *Server
		url    string
		major  int
	}{
		{both, "https://a.test/", 2},
		{both, "https://one.test/", 1},
		{both, "https://raw.test/", 1},
		{old, "https://a.test/", 1},
	} {
		if got := get(t, newClient(t, tt.server), tt.url).ProtoMajor; got != tt.major {
			t.Errorf("%s spoke HTTP/%d, want %d", tt.url, got, tt.major)
		}
	}
}

// A request is over when its connection is, even if its handler notices later.
func TestRequestEndsWithItsConnection(t *testing.T) {
	for name, opts := range map[string][]Option{"HTTP/2": nil, "HTTP/1.1": {WithoutHTTP2()}} {
		s, asked, seen := newServer(t, opts...), make(chan struct{}), make(chan time.Time, 1)
		s.Host("a.test").Handle("/", func(w http.ResponseWriter, r *http.Request) {
			close(asked)
			<-r.Context().Done()
			seen <- time.Now()
			time.Sleep(time.Millisecond)
			w.WriteHeader(http.StatusOK) // reaches nobody
		})
		transport, conns := s.Transport(), make(chan net.Conn, 1)
		dial := transport.DialContext
		transport.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
			c, err := dial(ctx, network, addr)
			conns <- c
			return c, err
		}
		go func() {
			<-asked
			_ = (<-conns).Close()
		}()
		client := &http.Client{Transport: transport}
		if resp, err := client.Get("https://a.test/"); err == nil {
			resp.Body.Close()
			t.Errorf("%s: the client has an answer", name)
		}
		latest := <-seen
		if err := s.Close(); err != nil { // waits for the handler
			t.Error(err)
		}
		if e := s.Log()[0]; e.Done.After(latest) || e.FirstByte.After(latest) || !e.Aborted {
			t.Errorf("%s: first byte at %v, done at %v, aborted %t, but its connection was over by %v", name, e.FirstByte,
				e.Done, e.Aborted, latest)
		}
	}
}

func TestServerRefusesUnknown(t *testing.T) {
	s := newServer(t, WithUnknownRefused())
	s.Host("known.test").Page("/", "here")
	s.Generate(1, GenConfig{Hosts: 2})
	c := newClient(t, s)
	for _, url := range []string{"https://known.test/", "https://h1.gen.test/"} {
		if got := get(t, c, url); got.StatusCode != 200 {
			t.Errorf("%s = %d, want 200", url, got.StatusCode)
		}
	}
	for _, url := range []string{"https://unknown.test/", "https://h2.gen.test/"} {
		if resp, err := c.Get(url); err == nil {
			resp.Body.Close()
			t.Errorf("%s was answered", url)
		}
	}
}

func TestServerCAFile(t *testing.T) {
	s := newServer(t)
	path, err := s.CAFile(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil || string(got) != string(s.CAPEM()) {
		t.Errorf("file holds %q, %v", got, err)
	}
	if _, err := s.CAFile(path); err == nil {
		t.Error("no error for a folder that is a file")
	}
}

// Close must end everything that waits: handlers, handshakes, idle and hijacked connections.
func TestServerClose(t *testing.T) {
	s, err := New()
	if err != nil {
		t.Fatal(err)
	}
	s.Host("silent.test").Page("/", "").Fault(fault.Silence)
	s.Host("drip.test").Page("/", "").Fault(fault.HeaderDrip)
	s.Host("down.test").Down(DownSilent)
	s.Host("idle.test").Page("/", "fine")
	c := newClient(t, s)
	get(t, c, "https://idle.test/")
	ended := make(chan error)
	hosts := []string{"silent.test", "drip.test", "down.test"}
	for _, host := range hosts {
		go func() {
			resp, err := c.Get("https://" + host + "/")
			if err == nil {
				resp.Body.Close()
			}
			ended <- err
		}()
	}
	waitFor(t, func() bool { return len(s.Log()) == 3 }) // idle, silent, drip
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Error(err)
	}
	for range hosts {
		if err := <-ended; err == nil {
			t.Error("a request was answered although the server closed")
		}
	}
}

// waitFor polls for a condition that no channel signals, such as the server noticing a hang-up.
func waitFor(t testing.TB, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it did not come about in a minute")
		}
	}
}

// drainGet fetches and discards a URL, for benchmarks.
func drainGet(t testing.TB, c *http.Client, url string) {
	resp, err := c.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
}

// A server that is closed at once leaves nothing behind.
func TestServerCloseAtOnce(t *testing.T) {
	for range 20 {
		s, err := New()
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if c, err := net.Dial("tcp", s.Addr()); err == nil {
			c.Close()
			t.Fatal("it still listens")
		}
	}
}
