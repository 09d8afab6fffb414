package fetch

import (
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// undelivered is how long the system retransmits data that the peer does not acknowledge. It is
// less than the time between the end of trust in a lease and the moment at which another machine
// may take over.
const undelivered = 4 * time.Second

// deliverSoon makes a connection discard unsent data when it is closed, including by the end of the process,
// and data that has not been acknowledged for a while.
func deliverSoon(c net.Conn) {
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		return
	}
	_ = tcp.SetLinger(0) // fails if closed meanwhile
	if raw, err := tcp.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) {
			_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(undelivered.Milliseconds()))
		})
	}
}
