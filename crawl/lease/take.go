package lease

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/sumi-ripple/ripple/schema"
)

// ErrFile reports a file that does not contain what the shard's record names.
var ErrFile = errors.New("the file is an older copy, or another one")

// A File is a state file that is open for writing, and so locked.
type File interface {
	// Contains reports whether the file lists an opening and holds a commit of it.
	Contains(schema.Opening, uint64) (bool, error)
	// Begin commits the opening that this is, unless that is done, and returns it.
	Begin() (schema.Opening, error)
	// Commit is the last synced commit. It is called by other goroutines than the rest.
	Commit() uint64
}

// A Claim says who wants which shard.
type Claim struct {
	Bucket Bucket
	Key    string // of the shard's record
	Node   string // as it is shown to people
	File   File
	FileID string // as [FileID] says it; empty: the node's own claim is waited out too
	Timing Timing
	Clock  func() Instant // [MachineClock]
}

// Take claims a shard, which takes Watch unless its record is free. It returns a [HeldError]
// when somebody else renews a claim meanwhile, [ErrFile] for a file that must not be used,
// and the bucket's error if that has not answered for Watch.
func Take(ctx context.Context, c Claim) (*Lease, error) {
	t := &taker{Claim: c}
	for answered := c.Clock(); ; {
		l, err := t.step(ctx)
		switch {
		case l != nil:
			return l, nil
		case err != nil:
			return nil, fmt.Errorf("take %s: %w", c.Key, err)
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case t.away == nil:
			answered = c.Clock()
		case c.Clock().Run-answered.Run > c.Timing.Watch:
			return nil, fmt.Errorf("take %s: %w", c.Key, t.away)
		}
		if t.hurry {
			continue
		}
		if err := pause(ctx, c.Timing.look()); err != nil {
			return nil, err
		}
	}
}

// A taker waits until it may claim a shard.
type taker struct {
	Claim
	seen    sighting
	opening schema.Opening // zero: not begun
	sent    []attempt      // claims that may be the record's content
	away    error          // of the bucket, which has not answered in the last step; nil: it has
	hurry   bool           // the next step is due at once
}

// A sighting is a record that has not changed since a moment.
type sighting struct {
	session  string
	revision uint64
	since    Instant // after it was read first
}

// An attempt is a claim that was sent.
type attempt struct {
	record  record
	session string // in which the record was watched before
	sent    Instant
}

// step reads the record once, and claims it if it may. The lease begins with the reading
// of the claim, in the session in which the record was watched.
func (t *taker) step(ctx context.Context) (*Lease, error) {
	t.hurry = false
	session, e, err := t.read(ctx)
	if t.away = err; err != nil {
		return nil, nil
	}
	r, err := decode(e.Value)
	if err != nil {
		return nil, err
	}
	if own := t.own(r); own != nil && own.session == session && t.Timing.trusts(own.sent, t.Clock()) {
		return newLease(t.Claim, own.record, own.sent), nil
	}
	if err := t.contained(r); err != nil {
		return nil, err
	}
	if may, err := t.watch(session, e.Revision, r); err != nil || !may {
		return nil, err
	}
	return nil, t.claim(ctx, session, e.Revision)
}

// read reads the record, and makes an empty one if there is none.
func (t *taker) read(ctx context.Context) (session string, e Entry, err error) {
	ctx, cancel := context.WithTimeout(ctx, t.Timing.ask())
	defer cancel()
	if session, err = t.Bucket.Session(ctx); err != nil {
		return "", e, err
	}
	if e, err = t.Bucket.Get(ctx, t.Key); !errors.Is(err, ErrNone) {
		return session, e, err
	}
	r := record{State: empty, Random: rand.Text()}
	if _, err = t.Bucket.Create(ctx, t.Key, r.encode()); err == nil || errors.Is(err, ErrChanged) {
		e, err = t.Bucket.Get(ctx, t.Key)
	}
	return session, e, err
}

// own returns the claim of this call that a record is; nil: none.
func (t *taker) own(r record) *attempt {
	for i := range t.sent {
		if t.sent[i].record.Random == r.Random {
			return &t.sent[i]
		}
	}
	return nil
}

// contained refuses a file that lacks what the record names.
func (t *taker) contained(r record) error {
	if r.State == empty {
		return nil
	}
	ok, err := t.File.Contains(schema.Opening(r.Opening), r.Commit)
	if err == nil && !ok {
		err = fmt.Errorf("%w: node %.100q has written commit %d of opening %x", ErrFile, r.Node, r.Commit, r.Opening)
	}
	return err
}

// watch reports whether the record may be claimed.
func (t *taker) watch(session string, revision uint64, r record) (bool, error) {
	now := t.Clock()
	if t.seen.session != session || t.seen.revision != revision {
		renewed := t.seen.session == session && r.State == held && t.own(r) == nil
		if t.seen = (sighting{session, revision, now}); renewed {
			return false, r.held(t.Key)
		}
	}
	same := r.File != "" && r.File == t.FileID && r.Node == t.Node
	return r.State == free || same || now.Run-t.seen.since.Run >= t.Timing.Watch, nil
}

// claim claims a record that was read. What comes of it the next step finds out.
func (t *taker) claim(ctx context.Context, session string, revision uint64) (err error) {
	if t.opening == (schema.Opening{}) {
		if t.opening, err = t.File.Begin(); err != nil {
			return err
		}
	}
	a := attempt{session: session, sent: t.Clock(), record: record{
		State: held, Node: t.Node, Opening: t.opening[:], Commit: t.File.Commit(), Random: rand.Text(),
	}}
	a.record.Since = time.Unix(0, int64(a.sent.Wall)).UTC().Truncate(time.Second)
	t.sent = append(t.sent, a)
	ctx, cancel := context.WithTimeout(ctx, t.Timing.ask())
	defer cancel()
	_, err = t.Bucket.Update(ctx, t.Key, a.record.encode(), revision)
	if t.hurry = err == nil || errors.Is(err, ErrChanged); !t.hurry {
		t.away = err
	}
	return nil
}
