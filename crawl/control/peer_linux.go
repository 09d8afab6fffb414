package control

import "golang.org/x/sys/unix"

// peerOf returns the user at the other end of a socket.
func peerOf(fd int) (uid int, known bool, err error) {
	cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return 0, false, err
	}
	return int(cred.Uid), true, nil
}
