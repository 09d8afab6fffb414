//go:build !linux

package fetch

import "net"

// deliverSoon does nothing: what is left of a request may be sent after the end of its process.
func deliverSoon(net.Conn) {}
