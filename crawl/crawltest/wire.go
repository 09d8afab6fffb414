package crawltest

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
)

// Address returns a loopback address for a server that is stopped and started again. Its port is not in
// the range from which systems assign ports to clients (from 32768), so that no client takes it in
// between, and it is reserved against other tests.
func Address(t testing.TB) string {
	t.Helper()
	var failed error
	for range 100 {
		var addr string
		if addr, failed = reserve(t, 20000+rand.IntN(12000)); failed == nil {
			return addr
		}
	}
	t.Fatal(failed)
	return ""
}

// reserve checks that a port is free over TCP and holds it over UDP until the test ends. Other tests
// thus see that it is taken, even while no server listens.
func reserve(t testing.TB, port int) (addr string, err error) {
	addr = fmt.Sprintf("127.0.0.1:%d", port)
	held, err := net.ListenPacket("udp", addr)
	if err != nil {
		return "", err
	}
	t.Cleanup(func() { held.Close() })
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return "", err
	}
	return addr, l.Close()
}

// A Wire is a proxy between a client and a server, until the test ends. It can be cut or silenced. Its
// methods are safe for concurrent use.
type Wire struct {
	listener net.Listener
	all      sync.WaitGroup

	mu     sync.Mutex
	target string
	dead   bool // new connections are closed
	silent bool // data is dropped
	ends   []net.Conn
}

// NewWire starts a wire to an address.
func NewWire(t testing.TB, target string) *Wire {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return NewWireAt(t, l, target)
}

// NewWireAt is NewWire for clients that connect to l, which the wire closes.
func NewWireAt(t testing.TB, l net.Listener, target string) *Wire {
	t.Helper()
	w := &Wire{listener: l, target: target}
	w.all.Go(w.run)
	t.Cleanup(func() { l.Close(); w.Cut(true); w.all.Wait() })
	return w
}

// Addr returns the address for clients.
func (w *Wire) Addr() string { return w.listener.Addr().String() }

// Aim sends future connections to another address.
func (w *Wire) Aim(target string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.target = target
}

// Cut closes all connections; if dead, it also closes future ones. It ends a silence.
func (w *Wire) Cut(dead bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dead, w.silent = dead, false
	for _, c := range w.ends {
		c.Close()
	}
	w.ends = nil
}

// Silence drops all data in both directions until the next Cut, without closing connections.
func (w *Wire) Silence() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.silent = true
}

func (w *Wire) run() {
	for {
		near, err := w.listener.Accept()
		if err != nil {
			return
		}
		w.connect(near)
	}
}

func (w *Wire) connect(near net.Conn) {
	w.mu.Lock()
	target := w.target
	w.mu.Unlock()
	far, err := net.Dial("tcp", target)
	if err != nil {
		near.Close()
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dead {
		near.Close()
		far.Close()
		return
	}
	w.ends = append(w.ends, near, far)
	for _, pair := range [][2]net.Conn{{near, far}, {far, near}} {
		w.all.Go(func() {
			_, _ = io.Copy(quiet{w, pair[0]}, pair[1]) // ends when either side closes
			pair[0].Close()
			pair[1].Close()
		})
	}
}

// quiet is an end of a connection that receives nothing while the wire is silent.
type quiet struct {
	wire *Wire
	end  net.Conn
}

func (q quiet) Write(b []byte) (int, error) {
	q.wire.mu.Lock()
	silent := q.wire.silent
	q.wire.mu.Unlock()
	if silent {
		return len(b), nil
	}
	return q.end.Write(b)
}
