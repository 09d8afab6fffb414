package control

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"
)

const nobody = 65534

// as runs do as another user, on a thread of its own. A thread that cannot switch back ends with its
// goroutine.
func as(t *testing.T, uid int, do func()) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can be somebody else")
	}
	var g errgroup.Group
	g.Go(func() error {
		runtime.LockOSThread()
		keep := ^uintptr(0)
		if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, keep, uintptr(uid), 0); errno != 0 {
			return errno
		}
		do()
		if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, keep, 0, 0); errno != 0 {
			return errno
		}
		runtime.UnlockOSThread()
		return nil
	})
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
}

// open returns the name of a state file in a folder that any user may enter.
func open(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "ctl")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "s.bolt")
}

// A client that is neither this user nor root is rejected, even if the socket is open to all.
func TestStrangeClient(t *testing.T) {
	state := open(t)
	s, err := Listen(state, NewHandler(endless{}, http.HandlerFunc(Unknown)))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var g errgroup.Group
	g.Go(func() error { return s.Serve(ctx) })
	defer func() {
		cancel()
		if err := g.Wait(); err != nil {
			t.Error(err)
		}
	}()
	ask := func() (string, error) {
		c, err := net.Dial("unix", s.path)
		if err != nil {
			return "", err
		}
		defer c.Close()
		_, _ = io.WriteString(c, "GET /api/v1/weather HTTP/1.0\r\n\r\n")
		text, err := io.ReadAll(c)
		return string(text), err
	}
	if text, err := ask(); err != nil || !strings.HasPrefix(text, "HTTP/1.0 404") {
		t.Fatalf("this user is told %q, %v", text, err)
	}
	as(t, nobody, func() {
		if _, err := ask(); !errors.Is(err, os.ErrPermission) {
			t.Errorf("another user connects: %v", err)
		}
	})
	if err := os.Chmod(s.path, 0o666); err != nil {
		t.Fatal(err)
	}
	as(t, nobody, func() {
		if text, _ := ask(); text != "" {
			t.Errorf("another user is told %q", text)
		}
	})
}

// A client does not use a socket that another user has put next to a state file, but does use one of the
// file's owner.
func TestStrangeCrawl(t *testing.T) {
	state := open(t)
	var l net.Listener
	var err error
	as(t, nobody, func() { l, err = net.Listen("unix", state+".sock") })
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c := &Client{State: state}
	var s *stranger
	if _, err := c.socket(t.Context()); !errors.As(err, &s) || s.uid != nobody {
		t.Errorf("a crawl of another user: %v", err)
	}
	if err := os.WriteFile(state, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(state, nobody, -1); err != nil {
		t.Fatal(err)
	}
	conn, err := c.socket(t.Context())
	if err != nil {
		t.Fatalf("the crawl of the state's owner: %v", err)
	}
	conn.Close()
}

// A runtime folder of another user is refused with a clear message; root's is accepted.
func TestStrangeFolder(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_RUNTIME_DIR", dir)
	long := filepath.Join(t.TempDir(), strings.Repeat("x", 120))
	if _, err := Path(long); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() != 0 {
		t.Skip("only root can give a folder away")
	}
	if err := os.Chown(dir, nobody, -1); err != nil {
		t.Fatal(err)
	}
	want := "control: the folder " + dir +
		" belongs to another user (uid 65534); set XDG_RUNTIME_DIR to a folder of your own, or unset it"
	if _, err := Path(long); err == nil || err.Error() != want {
		t.Errorf("Path = %v, want %s", err, want)
	}
	if !permitted(0, nobody) || permitted(nobody, 1000) {
		t.Error("whoever is not root trusts root, and nobody else")
	}
}
