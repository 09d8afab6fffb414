package control

import (
	"fmt"
	"net"
	"slices"
)

// A stranger is an untrusted peer.
type stranger struct{ uid int }

func (s *stranger) Error() string {
	return fmt.Sprintf("control: the other end of the socket belongs to another user (uid %d)", s.uid)
}

// checkPeer returns a [stranger] unless the peer is root or one of the trusted users.
func checkPeer(c *net.UnixConn, trusted ...int) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var uid int
	var known bool
	var peerErr error
	if err := raw.Control(func(fd uintptr) { uid, known, peerErr = peerOf(int(fd)) }); err != nil {
		return err
	}
	switch {
	case peerErr != nil:
		return fmt.Errorf("control: who is at the other end: %w", peerErr)
	case known && uid != 0 && !slices.Contains(trusted, uid):
		return &stranger{uid}
	}
	return nil
}
