package webtest

import (
	"errors"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// A listener tracks its open connections, including hijacked ones, so that closing the server ends them
// all.
type listener struct {
	net.Listener

	mu     sync.Mutex
	conns  map[*socket]struct{}
	closed bool
}

func newListener(l net.Listener) *listener {
	return &listener{Listener: l, conns: map[*socket]struct{}{}}
}

func (l *listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	sock := &socket{TCPConn: c.(*net.TCPConn), owner: l}
	if !l.add(sock) {
		_ = sock.Close()
		return nil, net.ErrClosed
	}
	return sock, nil
}

func (l *listener) add(s *socket) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	l.conns[s] = struct{}{}
	return true
}

// closeConns closes all open connections and refuses new ones.
func (l *listener) closeConns() {
	l.mu.Lock()
	open := l.conns
	l.conns, l.closed = map[*socket]struct{}{}, true
	l.mu.Unlock()
	for s := range open {
		_ = s.TCPConn.Close()
	}
}

// A socket is an accepted connection.
type socket struct {
	*net.TCPConn
	owner *listener
	over  atomic.Pointer[time.Time] // when either side ended it; nil: not yet
}

// Read records the end of a connection that the client ended.
func (s *socket) Read(b []byte) (int, error) {
	n, err := s.TCPConn.Read(b)
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		s.end()
	}
	return n, err
}

func (s *socket) end() {
	now := time.Now()
	s.over.CompareAndSwap(nil, &now)
}

// Close records the end first, because the client may see it before Close returns.
func (s *socket) Close() error {
	s.end()
	s.owner.mu.Lock()
	delete(s.owner.conns, s)
	s.owner.mu.Unlock()
	return s.TCPConn.Close()
}

// reset ends the connection with RST in place of FIN.
func (s *socket) reset() {
	_ = s.SetLinger(0)
	_ = s.Close()
}
