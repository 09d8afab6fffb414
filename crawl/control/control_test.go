package control_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/crawl/control"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve listens at a state file until the test ends.
func serve(t *testing.T, state string, h control.Handler) {
	t.Helper()
	s, err := control.Listen(state, h)
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
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// state returns the name of a state file in a folder whose name is short enough.
func state(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "ctl")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, "s.bolt")
}

func handler(data string) control.Handler {
	return control.Handler{
		Answer: func(_ context.Context, do string) (any, error) {
			if do == "bad" {
				return nil, errors.New("no such thing")
			}
			return map[string]string{"did": do}, nil
		},
		Size: func(context.Context) (int64, error) { return int64(len(data)), nil },
		Snapshot: func(w io.Writer) (int64, error) {
			n, err := io.WriteString(w, data)
			return int64(n), err
		},
	}
}

func anySize(int64) error { return nil }

func TestAsk(t *testing.T) {
	path := state(t)
	serve(t, path, handler(""))
	var reply map[string]string
	if err := control.Ask(t.Context(), path, "status", &reply); err != nil || reply["did"] != "status" {
		t.Errorf("Ask = %v, %v", reply, err)
	}
	if err := control.Ask(t.Context(), path, "pause", nil); err != nil {
		t.Error(err)
	}
	if err := control.Ask(t.Context(), path, "bad", nil); err == nil || err.Error() != "no such thing" {
		t.Errorf("the error of the crawl is %v", err)
	}
}

func TestNobody(t *testing.T) {
	path := state(t)
	if err := control.Ask(t.Context(), path, "status", nil); !errors.Is(err, control.ErrNobody) {
		t.Errorf("without a socket: %v", err)
	}
	if err := control.Snapshot(t.Context(), path, io.Discard, anySize); !errors.Is(err, control.ErrNobody) {
		t.Errorf("without a socket: %v", err)
	}
	left(t, path)
	if err := control.Ask(t.Context(), path, "status", nil); !errors.Is(err, control.ErrNobody) {
		t.Errorf("with a socket left behind: %v", err)
	}
}

// left leaves a socket behind as a killed crawl does.
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
	serve(t, path, handler(""))
	if info, err := os.Stat(path + ".sock"); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the socket has mode %v, %v", info.Mode(), err)
	}

	other := state(t)
	if err := os.WriteFile(other+".sock", []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := control.Listen(other, handler("")); err == nil {
		t.Error("a file that is no socket was replaced")
	}
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
	if path, err := control.Path(long); err != nil || filepath.Dir(path) != run {
		t.Errorf("Path = %q, %v; want it in %s", path, err, run)
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
	path, data := state(t), strings.Repeat("0123456789abcdef", 1<<17)
	serve(t, path, handler(data))
	var got bytes.Buffer
	var size int64
	if err := control.Snapshot(t.Context(), path, &got, func(n int64) error { size = n; return nil }); err != nil {
		t.Fatal(err)
	}
	if got.String() != data || size != int64(len(data)) {
		t.Errorf("the copy has %d bytes, announced %d; want %d", got.Len(), size, len(data))
	}
	full := errors.New("disk full")
	if err := control.Snapshot(t.Context(), path, &got, func(int64) error { return full }); !errors.Is(err, full) {
		t.Errorf("a copy that does not fit: %v", err)
	}
}

// A crawl that cannot be copied says why.
func TestSnapshotRefused(t *testing.T) {
	path := state(t)
	h := handler("")
	h.Size = func(context.Context) (int64, error) { return 0, errors.New("not yet") }
	serve(t, path, h)
	if err := control.Snapshot(t.Context(), path, io.Discard, anySize); err == nil || err.Error() != "not yet" {
		t.Errorf("Snapshot = %v, want the crawl's error", err)
	}
}

// A copy that the crawl could not end is no copy.
func TestSnapshotCut(t *testing.T) {
	path := state(t)
	h := handler("")
	h.Snapshot = func(w io.Writer) (int64, error) {
		_, _ = w.Write(make([]byte, 1<<21))
		return 0, errors.New("state file is damaged")
	}
	serve(t, path, h)
	if err := control.Snapshot(t.Context(), path, io.Discard, anySize); err == nil {
		t.Error("a copy that was cut is taken for whole")
	}
}

func TestSnapshotOneAtATime(t *testing.T) {
	path := state(t)
	h := handler("x")
	begun, end := make(chan struct{}), make(chan struct{})
	h.Snapshot = func(w io.Writer) (int64, error) {
		close(begun)
		<-end
		return 0, nil
	}
	serve(t, path, h)
	var g errgroup.Group
	g.Go(func() error { return control.Snapshot(t.Context(), path, io.Discard, anySize) })
	<-begun
	if err := control.Snapshot(t.Context(), path, io.Discard, anySize); err == nil || !strings.Contains(err.Error(), "another copy") {
		t.Errorf("a second copy at a time: %v", err)
	}
	close(end)
	if err := g.Wait(); err != nil {
		t.Error(err)
	}
}

// Whatever is sent to the socket, the crawl goes on answering.
func TestNonsense(t *testing.T) {
	path := state(t)
	serve(t, path, handler(""))
	for _, sent := range []string{"\n", "{}\n", "[1]\n", "{\"do\":\"\"}\n", strings.Repeat("x", 1<<16)} {
		c, err := net.Dial("unix", path+".sock")
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(c, sent)
		_, _ = io.Copy(io.Discard, c)
		c.Close()
	}
	if err := control.Ask(t.Context(), path, "status", nil); err != nil {
		t.Error(err)
	}
}

func TestCancelled(t *testing.T) {
	path := state(t)
	h := handler("")
	h.Answer = func(ctx context.Context, _ string) (any, error) { <-ctx.Done(); return nil, ctx.Err() }
	serve(t, path, h)
	ctx, cancel := context.WithCancel(t.Context())
	var g errgroup.Group
	g.Go(func() error { return control.Ask(ctx, path, "status", nil) })
	cancel()
	if err := g.Wait(); err == nil {
		t.Error("a question without an answer ended well")
	}
}
