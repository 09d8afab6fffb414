package fetch

import (
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// undelivered is how long the system goes on sending what the peer does not acknowledge. It is less than the time from
// the end of the trust in a lease to the moment at which another machine may take over.
const undelivered = 4 * time.Second

// deliverSoon has a connection send nothing that is left once it is closed, also by the end of the process, nor what
// has not been acknowledged for a while.
func deliverSoon(c net.Conn) {
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		return
	}
	_ = tcp.SetLinger(0) // closed meanwhile
	if raw, err := tcp.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) {
			_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(undelivered.Milliseconds()))
		})
	}
}
