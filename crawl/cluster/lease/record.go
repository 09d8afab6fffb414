package lease

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sumi-ripple/ripple/crawl/cluster/strictjson"
	"github.com/sumi-ripple/ripple/schema"
)

// maxRecord is the maximum size of a record, in bytes.
const maxRecord = 4096

// A state is the state of a record.
type state string

const (
	held     state = "held"
	free     state = "free"     // released by its holder
	empty    state = "empty"    // there was no record
	recreate state = "recreate" // its file is given up, and one of this epoch is to be made
)

// A record is the bucket's entry for a shard.
type record struct {
	State    state     `json:"state"`
	ID       string    `json:"id"`   // of the node
	Node     string    `json:"node"` // its name
	Instance string    `json:"instance"`
	Since    time.Time `json:"since"` // when it was claimed
	Opening  []byte    `json:"opening"`
	Commit   uint64    `json:"commit"`
	File     string    `json:"file"`  // see [FileID]; empty: unknown, or a claim that was never renewed
	Epoch    uint64    `json:"epoch"` // of the shard: how often its file was replaced
	Random   string    `json:"random"`
}

// decode decodes an untrusted record.
func decode(text []byte) (r record, err error) {
	if len(text) > maxRecord {
		return r, fmt.Errorf("record of %d bytes", len(text))
	}
	if err := strictjson.Decode(text, &r); err != nil {
		return r, fmt.Errorf("record: %w", err)
	}
	switch {
	case r.State != held && r.State != free && r.State != empty && r.State != recreate:
		return r, fmt.Errorf("record: state %q", r.State)
	case r.filed() && len(r.Opening) != len(schema.Opening{}):
		return r, fmt.Errorf("record: opening of %d bytes", len(r.Opening))
	}
	return r, nil
}

func (r record) encode() []byte { return strictjson.Encode(r) }

// filed reports whether the record names an opening and commit that a file must contain.
func (r record) filed() bool { return r.State == held || r.State == free }

// A HeldError reports that another node holds a shard.
type HeldError struct {
	Key   string // of its record
	ID    string // of the node
	Node  string // its name
	Since time.Time
}

func (e *HeldError) Error() string {
	return fmt.Sprintf("%s is held by node %.100q since %s", e.Key, e.Node, e.Since.UTC().Format(time.RFC3339))
}

func (r record) held(key string) error {
	if r.State != held {
		return fmt.Errorf("%s is not held", key)
	}
	return &HeldError{Key: key, ID: r.ID, Node: r.Node, Since: r.Since}
}

// A Holder is the state of a shard according to the bucket.
type Holder struct {
	Held     bool   // false: released, or never held
	Filed    bool   // it was held in this epoch
	Epoch    uint64 // how often its file was given up
	ID       string // of the node
	Node     string // its name
	Instance string // of its process
	Since    time.Time
	Opening  schema.Opening
	Commit   uint64 // as of the last renewal
}

// Made reports whether the shard has had a file, even if it was given up since.
func (h Holder) Made() bool { return h.Filed || h.Epoch > 0 }

// Look reads which node holds a shard; without a record none does. It does not show whether the holder is
// still alive.
func Look(ctx context.Context, b Bucket, key string) (Holder, error) {
	e, err := b.Get(ctx, key)
	if errors.Is(err, ErrNone) {
		return Holder{}, nil
	}
	if err != nil {
		return Holder{}, err
	}
	return HolderOf(key, e.Value)
}

// HolderOf returns the holder in an untrusted record with the given key.
func HolderOf(key string, text []byte) (Holder, error) {
	r, err := decode(text)
	if err != nil {
		return Holder{}, fmt.Errorf("%s: %w", key, err)
	}
	h := Holder{
		Held: r.State == held, Filed: r.filed(), Epoch: r.Epoch, ID: r.ID, Node: r.Node, Instance: r.Instance,
		Since: r.Since, Commit: r.Commit,
	}
	copy(h.Opening[:], r.Opening)
	return h, nil
}
