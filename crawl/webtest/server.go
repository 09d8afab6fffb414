// Package webtest provides a synthetic web on one loopback TLS port, which tests, the demonstration and
// benchmarks crawl instead of the real one.
//
// A [Server] answers for any number of host names, distinguished by SNI and the Host header, with
// certificates of its own temporary authority. A [Host] has folders, and pages that can misbehave
// ([fault.Fault]). A [Web] is generated from a seed and stores nothing per page. [Server.Load] reads a
// web from text. Every request is logged, and [CheckLog] checks the log without knowing the crawler.
//
// Names are matched exactly: "a.test" and "www.a.test" are two hosts, "a.test:81" is a third one, and
// "*.a.test" answers for every name below a.test that has no host of its own. A request for an unknown
// name is answered with 404.
//
// Hosts and pages may be added and changed while the server runs, with one exception: the protocol of a
// connection is fixed when it begins, so a fault that requires HTTP/1.1 must be set before the first
// request to that host. Everything here is safe for concurrent use.
package webtest

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A Server is a web of many host names on one or more loopback TLS ports.
type Server struct {
	latency       time.Duration
	http1         bool
	refuseUnknown bool
	journal       journal
	ca            *authority
	stranger      func() (*authority, error)

	tcp       net.Listener // given by the caller; nil: none
	ports     int          // additional ports
	listeners []*listener
	http      *http.Server
	cancel    context.CancelFunc
	served    sync.WaitGroup // the accept loops
	conns     atomic.Uint64

	life     sync.RWMutex // guards closed against a handler that begins
	closed   bool
	handlers sync.WaitGroup

	mu    sync.RWMutex
	hosts map[string]*Host   // by name, port included if it has one
	gates map[string]sniRule // by name without port, because TLS knows no port
	webs  []*Web
}

// An Option changes a server that is about to start.
type Option func(*Server)

// WithLatency delays every answer of every host that has no latency of its own.
func WithLatency(d time.Duration) Option { return func(s *Server) { s.latency = d } }

// WithoutHTTP2 restricts the server to HTTP/1.1.
func WithoutHTTP2() Option { return func(s *Server) { s.http1 = true } }

// WithUnknownRefused ends the TLS handshake of names that no host serves.
func WithUnknownRefused() Option { return func(s *Server) { s.refuseUnknown = true } }

// WithLogWriter writes every finished request to w as one line of JSON and keeps none in memory;
// [ReadLog] reads the lines back. After the first error of w nothing more is written, and
// [Server.Close] returns the error.
func WithLogWriter(w io.Writer) Option {
	return func(s *Server) { s.journal.out, s.journal.forget = w, true }
}

// WithoutLog keeps no log, for benchmarks and endless webs.
func WithoutLog() Option { return func(s *Server) { s.journal.forget = true } }

// WithListener serves connections to l, a TCP listener that the server then owns, instead of a free
// port of 127.0.0.1.
func WithListener(l net.Listener) Option { return func(s *Server) { s.tcp = l } }

// WithMorePorts makes the server listen on n further free ports of 127.0.0.1; see [Server.Addrs]. A
// machine can have some 28,000 connections to one port, including those closed within the last minute.
func WithMorePorts(n int) Option { return func(s *Server) { s.ports = n } }

// New starts a server on a free port of 127.0.0.1. It ends with [Server.Close].
func New(opts ...Option) (*Server, error) {
	ca, err := newAuthority("Ripple synthetic web")
	if err != nil {
		return nil, fmt.Errorf("create certificate authority: %w", err)
	}
	s := &Server{
		ca:       ca,
		stranger: sync.OnceValues(func() (*authority, error) { return newAuthority("Unknown") }),
		hosts:    map[string]*Host{},
		gates:    map[string]sniRule{},
	}
	s.journal.open = map[string]int{}
	for _, opt := range opts {
		opt(s)
	}
	if s.tcp == nil {
		s.ports++
	} else {
		s.listeners = append(s.listeners, newListener(s.tcp))
	}
	for range s.ports {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			for _, before := range s.listeners {
				_ = before.Close()
			}
			return nil, fmt.Errorf("listen on loopback: %w", err)
		}
		s.listeners = append(s.listeners, newListener(l))
	}
	s.start()
	return s, nil
}

func (s *Server) start() {
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	s.http = &http.Server{
		Handler:     http.HandlerFunc(s.serve),
		TLSConfig:   s.tlsConfig(),
		ErrorLog:    log.New(io.Discard, "", 0),
		BaseContext: func(net.Listener) context.Context { return ctx },
		ConnContext: func(ctx context.Context, c net.Conn) context.Context { // right after it was accepted
			sock := c.(*tls.Conn).NetConn().(*socket)
			return context.WithValue(ctx, connKey{}, connection{s.conns.Add(1), time.Now(), sock})
		},
	}
	for _, l := range s.listeners {
		s.served.Go(func() {
			_ = s.http.ServeTLS(l, "", "") // always http.ErrServerClosed once closed
		})
	}
}

// Close closes every connection and waits for every handler. Handlers given to [Host.Handle] must
// return when the context of their request ends. A second call does nothing.
func (s *Server) Close() error {
	s.life.Lock()
	again := s.closed
	s.closed = true
	s.life.Unlock()
	if again {
		return nil
	}
	s.cancel()
	err := s.http.Close()
	for _, l := range s.listeners {
		l.closeConns()
	}
	s.served.Wait()
	s.handlers.Wait()
	if errors.Is(err, net.ErrClosed) {
		err = nil
	}
	return errors.Join(err, s.journal.err())
}

// Addr returns the address at which every name of this web is dialled.
func (s *Server) Addr() string { return s.listeners[0].Addr().String() }

// Addrs returns all addresses at which any name of this web may be dialled.
func (s *Server) Addrs() (all []string) {
	for _, l := range s.listeners {
		all = append(all, l.Addr().String())
	}
	return all
}

// CAPEM returns the certificate of the authority that signs for every host.
func (s *Server) CAPEM() []byte { return s.ca.pem }

// CAFile writes the authority's certificate into dir and returns the file's path.
func (s *Server) CAFile(dir string) (string, error) {
	path := filepath.Join(dir, "webtest-ca.pem")
	if err := os.WriteFile(path, s.ca.pem, 0o644); err != nil {
		return "", fmt.Errorf("write authority certificate: %w", err)
	}
	return path, nil
}

// Host returns the host with a name, created on first use. A port is part of the name unless it is 443.
func (s *Server) Host(name string) *Host {
	name = canonicalHost(name)
	s.mu.Lock()
	defer s.mu.Unlock()
	h, ok := s.hosts[name]
	if !ok {
		h = &Host{server: s, name: name, routes: map[string]responder{}, latency: -1}
		s.hosts[name] = h
		s.gates[bareHost(name)] = s.gates[bareHost(name)]
	}
	return h
}

// Log returns the requests since the start or the last [Server.ResetLog], in
// order of arrival. A request that is still open has a zero Done.
func (s *Server) Log() []Entry { return s.journal.entriesByArrival() }

// ResetLog removes the requests logged so far.
func (s *Server) ResetLog() { s.journal.reset() }

// serve answers one request and logs it.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	if !s.addHandler() {
		panic(http.ErrAbortHandler)
	}
	defer s.handlers.Done()
	x := s.journal.begin(w, r)
	defer x.end()
	s.answer(x, r)
	x.returned = true
}

func (s *Server) addHandler() bool {
	s.life.RLock()
	defer s.life.RUnlock()
	if s.closed {
		return false
	}
	s.handlers.Add(1)
	return true
}

func (s *Server) answer(x *exchange, r *http.Request) {
	to, latency := s.route(x.entry.Host, r)
	if !pause(r.Context(), latency) {
		panic(http.ErrAbortHandler)
	}
	if to == nil {
		notFound(x)
		return
	}
	to.respond(x, r)
}

// route finds the responder: the host's own routes, then a generated web, else nil.
func (s *Server) route(host string, r *http.Request) (responder, time.Duration) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	latency := s.latency
	if h := lookup(s.hosts, host, bareHost(host)); h != nil {
		if h.latency >= 0 {
			latency = h.latency
		}
		if to := h.find(r.RequestURI); to != nil {
			return to, latency
		}
	}
	if w := s.web(bareHost(host)); w != nil {
		return w, latency
	}
	return nil, latency
}

// web returns the generated web with this name. The caller holds mu.
func (s *Server) web(name string) *Web {
	for _, w := range s.webs {
		if _, ok := w.names.host(name); ok {
			return w
		}
	}
	return nil
}

// lookup returns the value of the first of the exact names or, if there is none, of the nearest
// "*." name above the last one.
func lookup[T any](m map[string]T, names ...string) T {
	for _, name := range names {
		if v, ok := m[name]; ok {
			return v
		}
	}
	for name := names[len(names)-1]; ; {
		_, parent, ok := strings.Cut(name, ".")
		if !ok {
			var none T
			return none
		}
		if v, ok := m["*."+parent]; ok {
			return v
		}
		name = parent
	}
}

// canonicalHost returns the name in lower case, without the default port.
func canonicalHost(name string) string {
	return strings.TrimSuffix(strings.ToLower(name), ":443")
}

// bareHost returns a host without its port.
func bareHost(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return host
}

// pause waits for d and reports whether the context is still active.
func pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
