package hub

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/crawltest/sidebyside"
)

func TestMain(m *testing.M) {
	sidebyside.Tests(8) // they mostly wait for broken connections
	goleak.VerifyTestMain(m)
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// start runs a hub until the test ends or the hub is closed.
func start(t *testing.T, o Options) *Server {
	t.Helper()
	if o.Listen == "" {
		o.Listen = "127.0.0.1:0"
	}
	if o.Store == "" {
		o.Store = t.TempDir()
	}
	o.Open = o.Token == "" && len(o.NKeys) == 0
	o.Log = quiet()
	s, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// A site is a hub that is stopped and restarted at one address.
type site struct {
	t       *testing.T
	options Options
	server  *Server
}

func newSite(t *testing.T) *site {
	s := &site{t: t, options: Options{Store: t.TempDir(), Listen: crawltest.Address(t)}}
	s.server = start(t, s.options)
	return s
}

func (s *site) stop() {
	s.t.Helper()
	if err := s.server.Close(); err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) restart() {
	s.t.Helper()
	s.stop()
	s.server = start(s.t, s.options)
}

// wipe restarts the hub with an empty store.
func (s *site) wipe() {
	s.t.Helper()
	s.stop()
	if err := os.RemoveAll(s.options.Store); err != nil {
		s.t.Fatal(err)
	}
	s.server = start(s.t, s.options)
}

// reach connects to a hub, and retries if it is too busy to answer in time.
func reach(ctx context.Context, d Dial) (c *Conn, err error) {
	for range 10 {
		if c, err = Connect(ctx, d); !errors.Is(err, ErrAway) {
			break
		}
	}
	return c, err
}

func connect(t *testing.T, url string) *Conn {
	t.Helper()
	c, err := reach(t.Context(), Dial{URL: url, Node: "test", Log: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// bucket returns the bucket of the tests' terrain, with a connection of its own.
func bucket(t *testing.T, url string) *Bucket {
	t.Helper()
	c := connect(t, url)
	var b *Bucket
	eventually(t, func(context.Context) (err error) { b, err = c.Bucket(t.Context(), [16]byte{7}); return err })
	return b
}

// eventually retries f until it succeeds.
func eventually(t *testing.T, f func(context.Context) error) {
	t.Helper()
	var err error
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		err = f(ctx)
		cancel()
		if err == nil {
			return
		}
	}
	t.Fatal(err)
}

// written returns a file that only its owner can read.
func written(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
