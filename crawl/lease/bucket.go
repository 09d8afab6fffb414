package lease

import (
	"context"
	"errors"
)

// What a bucket answers, beside what it holds. After any other error it is not known what has become
// of a call.
var (
	ErrNone     = errors.New("there is no such record")
	ErrChanged  = errors.New("the record is not as it was read")   // nothing is written
	ErrTooLarge = errors.New("the hub takes no record that large") // nor ever will be
)

// A Bucket keeps a small record under every key, on a server. It may be used by several
// goroutines at a time.
type Bucket interface {
	// Session names the connection to the server, and the bucket itself: it is another
	// one after either has been made anew, and none ever comes back.
	Session(ctx context.Context) (string, error)
	// Get returns the record of a key, or [ErrNone].
	Get(ctx context.Context, key string) (Entry, error)
	// Create makes a record and returns its revision; [ErrChanged]: there is one; [ErrTooLarge].
	Create(ctx context.Context, key string, value []byte) (revision uint64, err error)
	// Update writes a record if it has the revision, and returns the new one; [ErrChanged]:
	// it has another one, or there is none; [ErrTooLarge]. No two buckets have a revision in common.
	Update(ctx context.Context, key string, value []byte, revision uint64) (uint64, error)
}

// An Entry is a record as a [Bucket] holds it.
type Entry struct {
	Value    []byte
	Revision uint64
}
