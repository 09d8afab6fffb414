package control_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/crawl/control"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve listens for a state file until the test ends.
func serve(t *testing.T, state string, c *crawl) *control.Client {
	t.Helper()
	s, err := control.Listen(state, control.NewHandler(c, c))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var g errgroup.Group
	g.Go(func() error { return s.Serve(ctx) })
	t.Cleanup(func() {
		cancel()
		if err := g.Wait(); err != nil {
			t.Error(err)
		}
		if path, _ := control.Path(state); exists(path) {
			t.Errorf("%s was left behind", path)
		}
	})
	return &control.Client{State: state}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// state returns the name of a state file in a folder with a short enough name.
func state(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "ctl")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, "s.bolt")
}

// A crawl answers questions with what was asked.
type crawl struct {
	data string
	err  error // of every question
	// Replacements.
	asked    func(*http.Request) error
	snapshot func(io.Writer) (int64, error)
}

type did struct {
	Did string `json:"did"`
}

func (c *crawl) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	err := c.err
	if c.asked != nil {
		err = c.asked(r)
	}
	switch {
	case strings.HasSuffix(r.URL.Path, "/weather"):
		control.Unknown(w, r)
	case err != nil:
		control.Refuse(w, err)
	default:
		control.Reply(w, did{r.Method + " " + r.URL.RequestURI()})
	}
}

func (c *crawl) Metrics(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "up 1") }
func (c *crawl) Size(context.Context) (int64, error)            { return int64(len(c.data)), c.err }

func (c *crawl) Snapshot(w io.Writer) (int64, error) {
	if c.snapshot != nil {
		return c.snapshot(w)
	}
	n, err := io.WriteString(w, c.data)
	return int64(n), err
}

func anySize(int64) error { return nil }

func TestAsk(t *testing.T) {
	c := serve(t, state(t), &crawl{})
	tests := []struct {
		what string
		ask  func(context.Context, string, any) error
		want did
	}{
		{"status", c.Get, did{"GET /api/v1/status"}},
		{"feed?since=7&brief=1", c.Get, did{"GET /api/v1/feed?since=7&brief=1"}},
		{"hosts/a.test:8443/requests", c.Get, did{"GET /api/v1/hosts/a.test:8443/requests"}},
		{"pause", c.Post, did{"POST /api/v1/pause"}},
	}
	for _, tt := range tests {
		var got did
		if err := tt.ask(t.Context(), tt.what, &got); err != nil || got != tt.want {
			t.Errorf("%s = %v, %v; want %v", tt.what, got, err, tt.want)
		}
	}
}

func TestRefused(t *testing.T) {
	busy := &control.Error{Code: 503, Text: "not yet"}
	c := serve(t, state(t), &crawl{err: fmt.Errorf("asked: %w", busy)})
	odd := serve(t, state(t), &crawl{err: errors.New("no such thing")})
	tests := []struct {
		name string
		ask  func(context.Context, string, any) error
		what string
		want control.Error
	}{
		{"the crawl's error", c.Get, "status", control.Error{Code: 503, Text: "asked: not yet"}},
		{"any error", odd.Post, "pause", control.Error{Code: 500, Text: "no such thing"}},
		{"what nobody knows", c.Get, "weather", control.Error{
			Code: 404, Text: `this crawl does not know "GET /api/v1/weather"; it may be another version of ripple`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got *control.Error
			if err := tt.ask(t.Context(), tt.what, new(did)); !errors.As(err, &got) || *got != tt.want {
				t.Errorf("%s fails with %v, want %v", tt.what, err, tt.want)
			}
		})
	}
}

func TestNobody(t *testing.T) {
	c := &control.Client{State: state(t)}
	if err := c.Get(t.Context(), "status", new(did)); !errors.Is(err, control.ErrNobody) {
		t.Errorf("without a socket: %v", err)
	}
	if err := c.Snapshot(t.Context(), io.Discard, anySize); !errors.Is(err, control.ErrNobody) {
		t.Errorf("without a socket: %v", err)
	}
	left(t, c.State)
	if err := c.Get(t.Context(), "status", new(did)); !errors.Is(err, control.ErrNobody) {
		t.Errorf("with a socket left behind: %v", err)
	}
}

// A request whose connection the crawl closes is sent once more; if that is closed too, the crawl has ended.
func TestCutOff(t *testing.T) {
	tests := []struct {
		name   string
		closed int // connections that are closed before the first that is served
		want   error
	}{{"one dropped", 1, nil}, {"the crawl ends", 2, control.ErrNobody}}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := &control.Client{State: state(t)}
			l, err := net.ListenUnix("unix", &net.UnixAddr{Name: c.State + ".sock", Net: "unix"})
			if err != nil {
				t.Fatal(err)
			}
			server := &http.Server{Handler: &crawl{}}
			var g errgroup.Group
			g.Go(func() error {
				for range tt.closed {
					conn, err := l.Accept()
					if err != nil {
						return err
					}
					if err := conn.Close(); err != nil {
						return err
					}
				}
				if err := server.Serve(l); !errors.Is(err, net.ErrClosed) && !errors.Is(err, http.ErrServerClosed) {
					return err
				}
				return nil
			})
			var got did
			if err := c.Get(t.Context(), "status", &got); !errors.Is(err, tt.want) {
				t.Errorf("Get = %v, want %v", err, tt.want)
			}
			if tt.want == nil && got.Did != "GET /api/v1/status" {
				t.Errorf("the crawl was asked %q", got.Did)
			}
			l.Close()
			server.Close()
			if err := g.Wait(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A crawl that ends while requests wait to be accepted is nobody, like one that ended before.
func TestEndsUnheard(t *testing.T) {
	for range 50 {
		c := &control.Client{State: state(t)}
		l, err := net.ListenUnix("unix", &net.UnixAddr{Name: c.State + ".sock", Net: "unix"})
		if err != nil {
			t.Fatal(err)
		}
		var g errgroup.Group
		for range 8 {
			g.Go(func() error { return c.Get(t.Context(), "status", new(did)) })
		}
		time.Sleep(2 * time.Millisecond) // most of them wait by then
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if err := g.Wait(); !errors.Is(err, control.ErrNobody) {
			t.Fatalf("Get = %v, want %v", err, control.ErrNobody)
		}
	}
}

// left leaves a socket behind like a killed crawl.
func left(t *testing.T, path string) {
	t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path + ".sock", Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
}

func TestListen(t *testing.T) {
	path := state(t)
	left(t, path)
	serve(t, path, &crawl{})
	info, err := os.Lstat(path + ".sock")
	if err != nil || info.Mode().Perm() != 0o600 || info.Mode()&os.ModeSocket == 0 {
		t.Errorf("the socket has mode %v, %v", info, err)
	}
	if exists(path + ".sock.d") {
		t.Error("the folder that it was made in is still there")
	}

	other := state(t)
	if err := os.WriteFile(other+".sock", []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := control.Listen(other, control.NewHandler(&crawl{}, nil)); err == nil {
		t.Error("a file that is no socket was replaced")
	}
}

// A socket is created only where no other user can reach it, whatever a killed crawl has left there.
func TestListenApart(t *testing.T) {
	path := state(t)
	if err := os.Mkdir(path+".sock.d", 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path+".sock.d", 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := control.Listen(path, control.NewHandler(&crawl{}, nil)); err == nil {
		t.Error("a socket was made in a folder that others can enter")
	}
	if err := os.Chmod(path+".sock.d", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+".sock.d/s", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	serve(t, path, &crawl{})
}

func TestPath(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", "")
	t.Setenv("TMPDIR", t.TempDir())
	long := filepath.Join(t.TempDir(), strings.Repeat("x", 120)+".bolt")
	path, err := control.Path(long)
	if err != nil || len(path) > 107 && len(os.TempDir()) < 60 {
		t.Errorf("Path = %q, %v", path, err)
	}
	info, err := os.Stat(filepath.Dir(path))
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("its folder has mode %v, %v", info, err)
	}
	if other, _ := control.Path(long + "2"); other == path {
		t.Error("two state files have one socket")
	}
	if err := os.Chmod(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := control.Path(long); err == nil {
		t.Error("a folder that others can write was trusted")
	}

	run := t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", run)
	if _, err := control.Path(long); err == nil || !strings.Contains(err.Error(), "open to other users") {
		t.Errorf("a runtime folder that others can enter: %v", err)
	}
	if err := os.Chmod(run, 0o700); err != nil {
		t.Fatal(err)
	}
	if path, err := control.Path(long); err != nil || filepath.Dir(path) != run {
		t.Errorf("Path = %q, %v; want it in %s", path, err, run)
	}
}

// A crawl that was started in another environment, for example by cron, is found.
func TestElsewhere(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", "")
	t.Setenv("TMPDIR", t.TempDir())
	long := filepath.Join(t.TempDir(), strings.Repeat("x", 120)+".bolt")
	c := serve(t, long, &crawl{})
	run := t.TempDir()
	if err := os.Chmod(run, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_RUNTIME_DIR", run)
	var got did
	if err := c.Post(t.Context(), "pause", &got); err != nil || got.Did != "POST /api/v1/pause" {
		t.Errorf("in a session: %+v, %v", got, err)
	}
	if !control.Listens(long) {
		t.Error("no crawl listens")
	}
	c.State = filepath.Join(filepath.Dir(long), strings.Repeat("y", 120)+".bolt")
	if err := c.Post(t.Context(), "pause", &got); !errors.Is(err, control.ErrNobody) {
		t.Errorf("another state file: %v, want %v", err, control.ErrNobody)
	}
	if control.Listens(c.State) {
		t.Error("a crawl listens that was never begun")
	}
}

func TestPathOfSymlink(t *testing.T) {
	path := state(t)
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(filepath.Dir(path), "l")
	if err := os.Symlink(path, link); err != nil {
		t.Skip(err)
	}
	a, _ := control.Path(path)
	if b, err := control.Path(link); err != nil || a != b {
		t.Errorf("Path(link) = %q, %v; want %q", b, err, a)
	}
}

func TestSnapshot(t *testing.T) {
	data := strings.Repeat("0123456789abcdef", 1<<17)
	c := serve(t, state(t), &crawl{data: data})
	var got bytes.Buffer
	var size int64
	if err := c.Snapshot(t.Context(), &got, func(n int64) error { size = n; return nil }); err != nil {
		t.Fatal(err)
	}
	if got.String() != data || size != int64(len(data)) {
		t.Errorf("the copy has %d bytes, announced %d; want %d", got.Len(), size, len(data))
	}
	full := errors.New("disk full")
	if err := c.Snapshot(t.Context(), &got, func(int64) error { return full }); !errors.Is(err, full) {
		t.Errorf("a copy that does not fit: %v", err)
	}
}

// A crawl that cannot be copied says why.
func TestSnapshotRefused(t *testing.T) {
	c := serve(t, state(t), &crawl{err: errors.New("not yet")})
	if err := c.Snapshot(t.Context(), io.Discard, anySize); err == nil || err.Error() != "not yet" {
		t.Errorf("Snapshot = %v, want the crawl's error", err)
	}
}

// A copy that the crawl could not finish is an error.
func TestSnapshotCut(t *testing.T) {
	for _, bytes := range []int{0, 1, 1 << 21} {
		c := serve(t, state(t), &crawl{snapshot: func(w io.Writer) (int64, error) {
			_, _ = w.Write(make([]byte, bytes))
			return 0, errors.New("state file is damaged")
		}})
		if err := c.Snapshot(t.Context(), io.Discard, anySize); err == nil {
			t.Errorf("a copy that was cut after %d bytes is taken for whole", bytes)
		}
	}
}

func TestSnapshotOneAtATime(t *testing.T) {
	begun, end := make(chan struct{}), make(chan struct{})
	c := serve(t, state(t), &crawl{snapshot: func(io.Writer) (int64, error) {
		close(begun)
		<-end
		return 0, nil
	}})
	var g errgroup.Group
	g.Go(func() error { return c.Snapshot(t.Context(), io.Discard, anySize) })
	<-begun
	if err := c.Snapshot(t.Context(), io.Discard, anySize); err == nil ||
		!strings.Contains(err.Error(), "another copy") {
		t.Errorf("a second copy at a time: %v", err)
	}
	close(end)
	if err := g.Wait(); err != nil {
		t.Error(err)
	}
}

func TestCancelled(t *testing.T) {
	asked := make(chan struct{})
	c := serve(t, state(t), &crawl{asked: func(r *http.Request) error {
		close(asked)
		<-r.Context().Done()
		return r.Context().Err()
	}})
	gone := errors.New("the terminal has gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	var g errgroup.Group
	g.Go(func() error { return c.Get(ctx, "status", new(did)) })
	<-asked
	cancel(gone)
	if err := g.Wait(); !errors.Is(err, gone) {
		t.Errorf("a question without an answer ends with %v, want %v", err, gone)
	}
}
