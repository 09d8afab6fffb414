package control

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/net/netutil"
)

const (
	maxClients = 64
	maxHeader  = 8 << 10
	silence    = 5 * time.Second // of a client before its request
	parting    = time.Second     // for answers still being sent at the end
)

// A Server is the crawl's end of the socket.
type Server struct {
	listener *net.UnixListener
	path     string
	handler  http.Handler
}

// Listen opens the socket of a state file. The caller holds the lock of that file, so an existing socket is a
// leftover and is replaced.
//
// A socket is created with the mode that the umask leaves. It is therefore created in a folder that only this
// user can enter, and moved to its place when its mode is set.
func Listen(state string, h http.Handler) (*Server, error) {
	path, err := Path(state)
	if err != nil {
		return nil, err
	}
	if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSocket == 0 {
		return nil, fmt.Errorf("control: %s exists and is not a socket", path)
	}
	made := path + bound
	if err := makePrivate(filepath.Dir(made)); err != nil {
		return nil, err
	}
	defer os.Remove(filepath.Dir(made))
	if err := os.Remove(made); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("control: remove old socket: %w", err)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: made, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("control: %w", err)
	}
	l.SetUnlinkOnClose(false)
	if err = os.Chmod(made, 0o600); err == nil {
		err = os.Rename(made, path)
	}
	if err != nil {
		l.Close()
		return nil, errors.Join(fmt.Errorf("control: %w", err), os.Remove(made))
	}
	return &Server{listener: l, path: path, handler: h}, nil
}

// Serve answers requests until ctx is done, removes the socket, and then gives open requests a second to end.
// It must be called only once.
func (s *Server) Serve(ctx context.Context) error {
	err := serve(ctx, &known{s.listener}, s.handler)
	if gone := os.Remove(s.path); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
		err = errors.Join(err, fmt.Errorf("control: %w", gone))
	}
	return err
}

// serve answers the clients that l accepts. It returns when the last client has been answered.
func serve(ctx context.Context, l net.Listener, h http.Handler) error {
	var open sync.WaitGroup
	server := &http.Server{
		Handler: h, MaxHeaderBytes: maxHeader,
		ReadHeaderTimeout: silence, IdleTimeout: silence, WriteTimeout: patience,
		ErrorLog:    log.New(io.Discard, "", 0), // errors of a client are not logged
		BaseContext: func(net.Listener) context.Context { return ctx },
		ConnState: func(_ net.Conn, state http.ConnState) {
			switch state {
			case http.StateNew:
				open.Add(1)
			case http.StateClosed:
				open.Done()
			}
		},
	}
	limited := netutil.LimitListener(l, maxClients)
	stop := context.AfterFunc(ctx, func() { limited.Close() })
	err := server.Serve(limited)
	if !stop() {
		err = nil // stopped by ctx
	}
	leave(server)
	open.Wait()
	if err != nil {
		return fmt.Errorf("control: %w", err)
	}
	return nil
}

// leave closes the connections after giving them time to end.
func leave(server *http.Server) {
	ctx, cancel := context.WithTimeout(context.Background(), parting)
	defer cancel()
	if server.Shutdown(ctx) != nil {
		_ = server.Close()
	}
}

// A known listener accepts this user and root, and closes other connections.
type known struct{ *net.UnixListener }

func (k *known) Accept() (net.Conn, error) {
	for {
		c, err := k.AcceptUnix()
		if err != nil {
			return nil, err
		}
		if checkPeer(c, os.Getuid()) == nil {
			return c, nil
		}
		c.Close()
	}
}
