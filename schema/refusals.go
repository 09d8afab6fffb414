package schema

import (
	"fmt"
	"strings"
)

// A RefusalKind is a kind of request that no rendered page may make, although its content may depend on the
// answer. What never holds links of the page is none: frames, images, styles, fonts, beacons and prefetches.
type RefusalKind uint8

// The kinds. RefusalKinds is their number.
const (
	RefusedPost        RefusalKind = iota // and other methods than GET and HEAD
	RefusedWebSocket                      // and WebTransport
	RefusedEventSource                    // server-sent events
	RefusedWorker                         // and shared workers
	RefusedHeader                         // made, but without a header of the page's own choosing
	RefusalKinds
)

// String returns the kind as shown to users, such as "POST".
func (k RefusalKind) String() string {
	return [RefusalKinds]string{"POST", "WebSocket", "EventSource", "worker", "own header"}[k]
}

// Refusals counts the refused requests of a page by kind, each request once.
type Refusals [RefusalKinds]int

// Any reports whether anything was refused.
func (r Refusals) Any() bool { return r != Refusals{} }

// String lists the kinds with their numbers, such as "2 POST, 1 WebSocket"; it is empty if there are none.
func (r Refusals) String() string {
	var all []string
	for kind, n := range r {
		if n > 0 {
			all = append(all, fmt.Sprintf("%d %s", n, RefusalKind(kind)))
		}
	}
	return strings.Join(all, ", ")
}
