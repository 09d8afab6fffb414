package crawltest

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
)

// Address returns one on loopback for a server that is stopped and started again: its port is none of
// those that systems give to clients (from 32768 on), who would have it meanwhile, and no other test's.
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

// reserve finds a port free over TCP, and takes it over UDP until the test ends: so whoever looks for
// one sees that it has an owner, though nobody listens yet, or just now.
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

// A Wire lies between a client and a server, until the test ends. It can be cut, and bring
// nothing. Its methods may be called by several goroutines at a time.
type Wire struct {
	listener net.Listener
	all      sync.WaitGroup

	mu     sync.Mutex
	target string
	dead   bool // nothing new is connected
	silent bool // nothing is brought
	ends   []net.Conn
}

// NewWire lays a wire to an address.
func NewWire(t testing.TB, target string) *Wire {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &Wire{listener: l, target: target}
	w.all.Go(w.run)
	t.Cleanup(func() { l.Close(); w.Cut(true); w.all.Wait() })
	return w
}

// Addr is where it begins.
func (w *Wire) Addr() string { return w.listener.Addr().String() }

// Aim leads what is connected from now on to another address.
func (w *Wire) Aim(target string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.target = target
}

// Cut breaks what is connected, and perhaps keeps it so. What is connected afterwards is not
// silent.
func (w *Wire) Cut(dead bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dead, w.silent = dead, false
	for _, c := range w.ends {
		c.Close()
	}
	w.ends = nil
}

// Silence drops whatever is sent either way, until the next Cut, and breaks nothing.
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
			_, _ = io.Copy(quiet{w, pair[0]}, pair[1]) // ends with either
			pair[0].Close()
			pair[1].Close()
		})
	}
}

// Quiet is an end that hears nothing while the wire is silent.
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
