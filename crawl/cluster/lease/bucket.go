package lease

import (
	"context"
	"errors"
	"strings"
)

// Errors of a bucket. After any other error the effect of a call is unknown.
var (
	ErrNone     = errors.New("there is no such record")
	ErrChanged  = errors.New("the record is not as it was read")   // nothing is written
	ErrTooLarge = errors.New("the hub takes no record that large") // and never will
)

// A Bucket keeps a small record under every key, on a server. It is safe for concurrent use.
type Bucket interface {
	// Session identifies the process of the server, the bucket itself and, after a #, the connection. It changes
	// when one of them is re-created, and never returns to an old value.
	Session(ctx context.Context) (string, error)
	// Connections counts the connections so far. It sends nothing.
	Connections() uint64
	// Get returns the record of a key, or [ErrNone].
	Get(ctx context.Context, key string) (Entry, error)
	// Create creates a record and returns its revision; [ErrChanged]: there is one already; [ErrTooLarge].
	Create(ctx context.Context, key string, value []byte) (revision uint64, err error)
	// Update writes a record if it has the given revision, and returns the new one; [ErrChanged]: it has
	// another one, or does not exist; [ErrTooLarge]. No two buckets share a revision.
	Update(ctx context.Context, key string, value []byte, revision uint64) (uint64, error)
}

// Instance returns the part of a session that all clients of one process of the server share.
func Instance(session string) string {
	instance, _, _ := strings.Cut(session, "#")
	return instance
}

// An Entry is a record as a [Bucket] holds it.
type Entry struct {
	Value    []byte
	Revision uint64
}
