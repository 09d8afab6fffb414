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

// ErrRecreated is the [ErrFile] for a shard whose file has been replaced since.
var ErrRecreated = fmt.Errorf("%w: the shard has been recreated since", ErrFile)

// A WrittenError is the [ErrFile] for a file that lacks another node's writes.
type WrittenError struct {
	ID      string // of the node
	Node    string // its name
	Commit  uint64 // 0: unknown
	Opening schema.Opening
}

func (e *WrittenError) Error() string {
	if e.Commit == 0 {
		return fmt.Sprintf("%v: node %.100q has written that of the shard", ErrFile, e.Node)
	}
	return fmt.Sprintf("%v: node %.100q has written commit %d of opening %x", ErrFile, e.Node, e.Commit, e.Opening)
}

func (e *WrittenError) Unwrap() error { return ErrFile }

// A File is a state file that is open for writing, and therefore locked.
type File interface {
	// Contains reports whether the file lists an opening and contains a commit of it.
	Contains(schema.Opening, uint64) (bool, error)
	// Begin commits the current opening, unless that has been done, and returns it.
	Begin() (schema.Opening, error)
	// Commit returns the last synced commit. It is called concurrently with the other methods.
	Commit() uint64
}

// A Claim says which node wants which shard.
type Claim struct {
	Bucket   Bucket
	Key      string // of the shard's record
	ID       string // of the node
	Node     string // its name, for people
	Instance string // of the process of the node
	File     File
	FileID   string // see [FileID]; empty: even the node's own claim is waited out
	Epoch    uint64 // of the shard, in the file
	// Founded is the [Instance] of the bucket in which the terrain was founded; empty: unknown. While it lasts, a
	// record that nobody has claimed is that of a shard that nobody ever held, so there is no holder to wait for.
	Founded string
	Timing  Timing
	Clock   func() Instant // [MachineClock]
	// Waits is called when Take begins to watch a record that another node, or an earlier process, may still trust.
	// It may be nil.
	Waits func(Wait)
}

// A Wait is the time for which a taker watches a record.
type Wait struct {
	Node string        // that claimed it last; empty: unknown
	For  time.Duration // unless the record changes
}

// Take claims a shard, which takes Watch, or two renewals if this node has claimed it with the same file, unless its
// record is free or the shard was never held. It returns a [HeldError] if a claim is renewed meanwhile, [ErrFile] for
// a file that must not be used, and the bucket's error if that has not answered for Watch. A HeldError with the ID of
// this node means that another process runs with it.
func Take(ctx context.Context, c Claim) (l *Lease, err error) {
	t := &taker{Claim: c}
	err = t.until(ctx, func() (bool, error) {
		l, err = t.step(ctx)
		return l != nil, err
	})
	return l, err
}

// A taker waits until it may claim a shard.
type taker struct {
	Claim
	seen    sighting
	opening schema.Opening // zero: not begun
	sent    []attempt      // claims that may be the record's content
	away    error          // error of a bucket that did not answer in the last step; nil: it did
	hurry   bool           // the next step is due at once
}

// A sighting is a record that has been unchanged since a given moment.
type sighting struct {
	instance string // of the bucket
	revision uint64
	since    Instant // just after it was first read
	renewals int     // that were seen before
}

// An attempt is a claim that was sent.
type attempt struct {
	record   record
	instance string // of the bucket in which the record was watched
	sent     Instant
	accepted bool // the hub has answered
}

// until runs step until it reports that it was the last one.
func (t *taker) until(ctx context.Context, step func() (bool, error)) error {
	for answered := t.Clock(); ; {
		t.hurry = false
		last, err := step()
		switch {
		case err != nil:
			return fmt.Errorf("take %s: %w", t.Key, err)
		case last:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case t.away == nil:
			answered = t.Clock()
		case t.Clock().Run-answered.Run > t.Timing.Watch:
			return fmt.Errorf("take %s: %w", t.Key, t.away)
		}
		if t.hurry {
			continue
		}
		if err := pause(ctx, t.Timing.look()); err != nil {
			return err
		}
	}
}

// step reads the record once, and claims it if allowed. The lease begins when the claim is read back, in the
// instance in which the record was watched.
func (t *taker) step(ctx context.Context) (*Lease, error) {
	session, e, r, err := t.look(ctx)
	if err != nil || t.away != nil {
		return nil, err
	}
	instance := Instance(session)
	if own := t.own(r); own != nil && own.instance == instance && t.Timing.trusts(own.sent, t.Clock()) {
		if own.accepted {
			return newLease(t.Claim, own.record, own.sent), nil
		}
		return nil, t.claim(ctx, instance, e.Revision)
	}
	wait, refused := t.wait(instance, r), t.contained(r)
	if errors.Is(refused, ErrFile) && r.State == held && r.ID == t.ID { // the node may run twice
		wait = t.Timing.restart()
	} else if refused != nil {
		return nil, refused
	}
	if may, err := t.watch(instance, e.Revision, r, wait); err != nil || !may {
		return nil, err
	}
	if refused != nil {
		return nil, refused
	}
	return nil, t.claim(ctx, instance, e.Revision)
}

// look reads the record once, or records that the bucket does not answer.
func (t *taker) look(ctx context.Context) (session string, e Entry, r record, err error) {
	if session, e, t.away = t.read(ctx); t.away == nil {
		r, err = decode(e.Value)
	}
	return session, e, r, err
}

// read reads the record, and creates an empty one if there is none.
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

// own returns the claim of this call that the record contains, or nil.
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
	switch {
	case r.Epoch > t.Epoch:
		return fmt.Errorf("%w for node %.100q", ErrRecreated, r.Node)
	case r.Epoch < t.Epoch, !r.filed():
		return nil
	}
	ok, err := t.File.Contains(schema.Opening(r.Opening), r.Commit)
	if err == nil && !ok {
		err = &WrittenError{r.ID, r.Node, r.Commit, schema.Opening(r.Opening)}
	}
	return err
}

// wait returns how long a record must have been unchanged before it may be claimed. The process that claimed it with
// this very file is dead, because the file is locked here, unless this machine runs twice: then it renews its claim.
func (t *taker) wait(instance string, r record) time.Duration {
	switch {
	case r.State == free, r.State == recreate,
		r.State == empty && t.Epoch == 0 && t.Founded != "" && instance == t.Founded:
		return 0
	case r.File != "" && r.File == t.FileID && r.ID == t.ID:
		return t.Timing.restart()
	}
	return t.Timing.Watch
}

// watch reports whether the record has been unchanged for long enough. It returns a [HeldError] for one that is being
// renewed. A process of this node that is dead may still have changed it once, by a message that arrived late.
func (t *taker) watch(instance string, revision uint64, r record, wait time.Duration) (bool, error) {
	now := t.Clock()
	if t.seen.instance != instance || t.seen.revision != revision {
		seen := sighting{instance: instance, revision: revision, since: now}
		if t.seen.instance == instance && r.State == held && t.own(r) == nil {
			seen.renewals = t.seen.renewals + 1
		}
		if t.seen = seen; seen.renewals > 1 || seen.renewals > 0 && r.ID != t.ID {
			return false, r.held(t.Key)
		}
		if t.Waits != nil && wait > 0 {
			t.Waits(Wait{Node: r.Node, For: wait})
		}
	}
	return now.Run-t.seen.since.Run >= wait, nil
}

// claim tries to claim a record that was read. The next step finds out the result.
func (t *taker) claim(ctx context.Context, instance string, revision uint64) (err error) {
	if t.opening == (schema.Opening{}) {
		if t.opening, err = t.File.Begin(); err != nil {
			return err
		}
	}
	a := attempt{instance: instance, sent: t.Clock(), record: record{
		State: held, ID: t.ID, Node: t.Node, Instance: t.Instance, Opening: t.opening[:], Commit: t.File.Commit(),
		Epoch: t.Epoch, Random: rand.Text(),
	}}
	a.record.Since = time.Unix(0, int64(a.sent.Wall)).UTC().Truncate(time.Second)
	a.accepted = t.update(ctx, a.record, revision)
	t.sent = append(t.sent, a)
	return nil
}

// update writes a record if it has the given revision, and reports whether the hub has accepted that. If not, the next
// step finds out the result.
func (t *taker) update(ctx context.Context, r record, revision uint64) bool {
	ctx, cancel := context.WithTimeout(ctx, t.Timing.ask())
	defer cancel()
	_, err := t.Bucket.Update(ctx, t.Key, r.encode(), revision)
	if t.hurry = err == nil || errors.Is(err, ErrChanged); !t.hurry {
		t.away = err
	}
	return err == nil
}
