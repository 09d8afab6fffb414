package lease

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sumi-ripple/ripple/crawl/strictjson"
	"github.com/sumi-ripple/ripple/schema"
)

// maxRecord is the size of a record at most, in bytes.
const maxRecord = 4096

// A state says what a record means.
type state string

const (
	held  state = "held"
	free  state = "free"  // its holder has let it go
	empty state = "empty" // there was no record
	anew  state = "anew"  // its file is given up, and one of this epoch is to be made
)

// A record is what the bucket says of a shard.
type record struct {
	State   state     `json:"state"`
	Node    string    `json:"node"`
	Since   time.Time `json:"since"` // when it was claimed
	Opening []byte    `json:"opening"`
	Commit  uint64    `json:"commit"`
	File    string    `json:"file"`  // see [FileID]; empty: not known, or a claim that was never renewed
	Epoch   uint64    `json:"epoch"` // of the shard: how often its file was made anew
	Random  string    `json:"random"`
}

// decode reads a record that anybody may have written.
func decode(text []byte) (r record, err error) {
	if len(text) > maxRecord {
		return r, fmt.Errorf("record of %d bytes", len(text))
	}
	if err := strictjson.Decode(text, &r); err != nil {
		return r, fmt.Errorf("record: %w", err)
	}
	switch {
	case r.State != held && r.State != free && r.State != empty && r.State != anew:
		return r, fmt.Errorf("record: state %q", r.State)
	case r.filed() && len(r.Opening) != len(schema.Opening{}):
		return r, fmt.Errorf("record: opening of %d bytes", len(r.Opening))
	}
	return r, nil
}

func (r record) encode() []byte { return strictjson.Encode(r) }

// filed reports whether the record names what a file must contain.
func (r record) filed() bool { return r.State == held || r.State == free }

// A HeldError says that another node holds a shard.
type HeldError struct {
	Key   string // of its record
	Node  string // as the node calls itself
	Since time.Time
}

func (e *HeldError) Error() string {
	return fmt.Sprintf("%s is held by node %.100q since %s", e.Key, e.Node, e.Since.UTC().Format(time.RFC3339))
}

func (r record) held(key string) error {
	if r.State != held {
		return fmt.Errorf("%s is held by nobody", key)
	}
	return &HeldError{Key: key, Node: r.Node, Since: r.Since}
}

// A Holder is what the bucket says of a shard.
type Holder struct {
	Held    bool // otherwise it was released, or nobody has had it
	Node    string
	Since   time.Time
	Opening schema.Opening
	Commit  uint64 // as of the last renewal
}

// Look reads which node has a shard; without a record none has. Whether the holder still lives is not
// known.
func Look(ctx context.Context, b Bucket, key string) (Holder, error) {
	e, err := b.Get(ctx, key)
	if errors.Is(err, ErrNone) {
		return Holder{}, nil
	}
	if err != nil {
		return Holder{}, err
	}
	r, err := decode(e.Value)
	if err != nil {
		return Holder{}, fmt.Errorf("%s: %w", key, err)
	}
	h := Holder{Held: r.State == held, Node: r.Node, Since: r.Since, Commit: r.Commit}
	copy(h.Opening[:], r.Opening)
	return h, nil
}
