package fetch

import (
	"io"
	"net"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// options returns SO_LINGER and TCP_USER_TIMEOUT of a connection.
func options(t *testing.T, c *net.TCPConn) (linger *unix.Linger, timeout int) {
	t.Helper()
	raw, err := c.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	_ = raw.Control(func(fd uintptr) {
		linger, _ = unix.GetsockoptLinger(int(fd), unix.SOL_SOCKET, unix.SO_LINGER)
		timeout, _ = unix.GetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT)
	})
	return linger, timeout
}

// Unsent data is discarded when a connection is closed; an idle connection is closed in order.
func TestLeased(t *testing.T) {
	for _, leased := range []bool{false, true} {
		for _, idle := range []bool{false, true} {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer listener.Close()
			c, err := net.Dial("tcp", listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			peer, err := listener.Accept()
			if err != nil {
				t.Fatal(err)
			}
			defer peer.Close()
			d := newDialler(t.Context(), &Config{Leased: leased}, nil)
			if leased {
				deliverSoon(c)
			}
			made, err := d.track(c)
			if err != nil {
				t.Fatal(err)
			}
			linger, timeout := options(t, c.(*net.TCPConn))
			if on := linger.Onoff != 0; on != leased || (timeout > 0) != leased || timeout >= 5000 {
				t.Errorf("leased %v: linger %+v, time-out %d ms", leased, linger, timeout)
			}
			made.take()
			if idle {
				made.release()
			} else { // more than the peer's window can hold
				_ = c.SetWriteDeadline(time.Now().Add(50 * time.Millisecond))
				for _, err = c.Write(make([]byte, 1<<20)); err == nil; {
					_, err = c.Write(make([]byte, 1<<20))
				}
			}
			made.Close()
			_ = peer.SetReadDeadline(time.Now().Add(5 * time.Second))
			_, err = io.Copy(io.Discard, peer)
			if reset := err != nil; reset != (leased && !idle) {
				t.Errorf("leased %v, idle %v: the peer reads until %v", leased, idle, err)
			}
		}
	}
}
