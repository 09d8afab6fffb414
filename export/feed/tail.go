package feed

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema/scope"
)

// ErrTail reports a cursor before the visits of a [Tail].
var ErrTail = errors.New("the visits after the cursor are not held any more")

// A Tail holds the last visits of a store, without their links, for use when the store is no longer
// available. It is immutable and safe for concurrent use.
type Tail struct {
	from  uint64 // the cursor before the first of them
	batch *Batch
}

// ReadTail returns the last most visits.
func ReadTail(store *kv.Store, t *scope.Scope, most uint64) (*Tail, error) {
	b, err := ReadBrief(store, t, Newest, 0, nil)
	if err != nil {
		return nil, err
	}
	tail := &Tail{from: b.Next - min(b.Next, most)}
	if tail.batch, err = ReadBrief(store, t, tail.from, 0, nil); err != nil {
		return nil, err
	}
	for tail.batch.More {
		if b, err = ReadBrief(store, t, tail.batch.Next, 0, nil); err != nil {
			return nil, err
		}
		tail.batch.Append(tail.from, b)
	}
	return tail, nil
}

// After returns what [ReadBrief] would return, or [ErrTail] if that includes visits not in the tail.
func (t *Tail) After(cursor, most uint64) (*Batch, error) {
	next := t.batch.Next
	if cursor == Newest {
		cursor = next
	}
	from := cursor
	if most > 0 {
		from = max(cursor, t.from, next-min(next, most))
	}
	switch {
	case cursor > next:
		return nil, fmt.Errorf("%w (%d of %d)", ErrCursor, cursor, next)
	case from < t.from:
		return nil, ErrTail
	}
	return &Batch{Lines: t.batch.after(from), Next: next, Omitted: from - cursor}, nil
}

// Append adds the following batch to b, which was read after the cursor from. If the further batch
// omits visits, b loses its lines, because omitted visits precede all lines of a batch.
func (b *Batch) Append(from uint64, further *Batch) {
	if further.Omitted > 0 {
		b.Lines, b.Omitted = nil, b.Next-from+further.Omitted
	}
	b.Lines, b.Next, b.More = append(b.Lines, further.Lines...), further.Next, further.More
}

// After returns the part of a batch after a later cursor. from is the cursor that the batch was read
// after.
func (b *Batch) After(from, cursor uint64) *Batch {
	first := from + b.Omitted
	return &Batch{Lines: b.after(cursor), Next: b.Next, More: b.More, Omitted: first - min(first, cursor)}
}

func (b *Batch) after(cursor uint64) []json.RawMessage {
	lines := []json.RawMessage{}
	for _, text := range b.Lines {
		var at struct {
			Cursor uint64 `json:"cursor"`
		}
		if json.Unmarshal(text, &at) == nil && at.Cursor > cursor {
			lines = append(lines, text)
		}
	}
	return lines
}
