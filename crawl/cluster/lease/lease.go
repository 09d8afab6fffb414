// Package lease decides which node may work on a shard of a terrain: the one named by a record in a bucket,
// for as long as that node may trust the record.
//
// [Take] waits until the shard is free and claims it, [Lease.Keep] renews the claim, and [Lease.Held] reports
// whether it may still be trusted. Held must be checked just before every request to a web server, and before
// writing or answering a message. [Lease.Ready] must be called before a request is prepared.
//
// # Why two nodes never hold one shard
//
// A record is only changed by compare-and-swap on the revision that was read, and every write has a fresh
// random number. The holder trusts a write for [Timing] Trust, counted from just before it was sent. A taker
// claims a record after it has been unchanged for Watch, counted from just after it was first read; Watch is
// longer than Trust. A pending renewal meets another revision after the claim, and has no effect. The
// intervals of trust therefore never overlap if clocks run at about the same rate: Watch is a fifth longer
// than Trust.
//
// A holder that cannot reach the bucket continues for as long as its trust lasts, so a hub that is restarted stops
// nobody. After each reconnection the holder reads its record before the next request.
//
// The clock keeps running while the machine is suspended. It cannot in a halted virtual machine, but
// afterwards the wall clock jumps relative to it, and a jump ends the trust. A machine that is halted and
// then shows no jump is not covered.
//
// If there is no record, a taker creates an empty one and watches that. A holder whose record is gone, or empty,
// writes it again while its trust lasts: nobody else can have ended a watch. A wiped bucket therefore stops nobody
// either, provided that its revisions match none of the old ones. A watch and the claim that ends it count only
// within one instance of the bucket, because data that a hub has lost may come back in an old state. Only a claim
// that was acknowledged begins a lease, because a hub may lose one that was not, and others may then need no watch.
//
// Three claims need no watch: of a record that its holder has released; of one that gives its file up, which was
// watched before; and of one that nobody has claimed yet, in the process of the server and the bucket in which the
// terrain was founded, because neither can have forgotten a claim. A fourth needs a short one: of a record that the
// same node wrote for the same file, whose lock it holds. The process that wrote it is dead, unless the machine was
// copied while it ran, which no identifier shows; then the copy renews the record. All four trust the bucket.
// Therefore a hub's store must never be restored from a copy: discard it instead.
//
// # The file
//
// A record names the opening and the commit of the file that it was written for. A file that does not contain
// both is refused: it is an older copy, or a different file. A file that is permanently lost is given up by
// [Recreate]: the record then has a higher epoch, as does the replacement file, which need contain nothing. Files
// of lower epochs are refused, unless [Given.Back] restores the record.
package lease

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// ErrLost reports that a lease can no longer be trusted. Its former holder may take the shard again.
var ErrLost = errors.New("the shard is no longer ours")

var errOver = fmt.Errorf("%w: it could not be renewed in time, or the clock has jumped", ErrLost)

// A Lease is one period in which a node holds a shard. Its methods are safe for concurrent use, but Keep and
// Release must be called from one goroutine.
type Lease struct {
	claim Claim
	own   record // as last written
	terms []term // writes that may be the record's current content; the first is confirmed
	trust atomic.Pointer[Instant]
	ended atomic.Bool
	lost  chan struct{}
	close func() // closes lost, once

	read   atomic.Uint64 // [Bucket.Connections] before the record was last read
	hurry  chan struct{} // makes Keep read the record at once
	mu     sync.Mutex
	reread chan struct{} // closed when the record has been read, and replaced by another
}

// A term is a write, identified by its random number.
type term struct {
	random string
	sent   Instant // just before sending
}

func newLease(c Claim, own record, sent Instant) *Lease {
	l := &Lease{
		claim: c, own: own, terms: []term{{own.Random, sent}}, lost: make(chan struct{}), hurry: make(chan struct{}, 1),
		reread: make(chan struct{}),
	}
	l.close = sync.OnceFunc(func() { close(l.lost) })
	l.trust.Store(&sent)
	l.read.Store(c.Bucket.Connections())
	return l
}

// Held reports whether this node holds the shard now. Once false, it remains false.
func (l *Lease) Held() bool {
	if l.ended.Load() {
		return false
	}
	from := l.trust.Load() // read before the clock: it only grows
	if l.claim.Timing.trusts(*from, l.claim.Clock()) {
		return true
	}
	l.ended.Store(true)
	return false
}

// Ready reports whether a request may be prepared. After a reconnection it first waits until Keep has read the record,
// unless ctx is done before.
func (l *Lease) Ready(ctx context.Context) bool {
	for l.Held() {
		l.mu.Lock()
		reread := l.reread
		l.mu.Unlock()
		if l.read.Load() == l.claim.Bucket.Connections() {
			return true
		}
		select {
		case l.hurry <- struct{}{}:
		default: // it hurries already
		}
		select {
		case <-reread:
		case <-l.lost:
		case <-ctx.Done():
			return false
		}
	}
	return false
}

// Lost is closed when Held becomes false while Keep runs, or when Keep ends with ErrLost.
func (l *Lease) Lost() <-chan struct{} { return l.lost }

// Keep renews the lease until ctx is done or the lease is lost. It returns the context's error, with the
// lease still held for the rest of its trust, or ErrLost.
func (l *Lease) Keep(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return l.watch(ctx) })
	g.Go(func() error { return l.renew(ctx) })
	err := g.Wait()
	if !errors.Is(err, ErrLost) && !l.Held() { // ctx was done before watch noticed
		err = errOver
	}
	if errors.Is(err, ErrLost) {
		l.end()
	}
	return err
}

func (l *Lease) end() {
	l.ended.Store(true)
	l.close()
}

// watch returns when the trust has ended. It checks often, because timers stop while the machine is
// suspended, and just before it waits, because the machine may be halted at any moment.
func (l *Lease) watch(ctx context.Context) error {
	for {
		left := l.claim.Timing.Trust - (l.claim.Clock().Run - l.trust.Load().Run)
		if !l.Held() {
			l.end()
			return errOver
		}
		if err := pause(ctx, max(min(left, l.claim.Timing.look()), time.Millisecond)); err != nil {
			return err
		}
	}
}

// renew renews the lease at once, because a claim does not name the file, and then periodically.
func (l *Lease) renew(ctx context.Context) error {
	for {
		began := l.claim.Clock()
		err := l.again(ctx)
		if errors.Is(err, ErrLost) {
			return err
		}
		wait := l.claim.Timing.look()
		if err == nil {
			wait = l.claim.Timing.Renew - (l.claim.Clock().Run - began.Run)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		case <-l.hurry:
		}
	}
}

// again renews the lease once. It reads the record first, to find out the effect of unanswered writes and the
// state of the bucket. A record that the hub has lost is written again.
func (l *Lease) again(ctx context.Context) error {
	e, err := l.mine(ctx)
	if err != nil {
		return err
	}
	if !l.Held() {
		return errOver
	}
	r := l.own
	r.File, r.Commit, r.Random = l.claim.FileID, l.claim.File.Commit(), rand.Text()
	t := term{r.Random, l.claim.Clock()}
	l.terms = append(l.terms, t)
	ctx, cancel := context.WithTimeout(ctx, l.claim.Timing.ask())
	defer cancel()
	if e.Value != nil {
		_, err = l.claim.Bucket.Update(ctx, l.claim.Key, r.encode(), e.Revision)
	} else if _, err = l.claim.Bucket.Session(ctx); err == nil { // re-creates the bucket
		_, err = l.claim.Bucket.Create(ctx, l.claim.Key, r.encode())
	}
	if err != nil {
		return err
	}
	l.own = r
	return l.adopt(t)
}

// mine reads the record and adopts the write of this lease that it contains. If there is no record, the entry is
// zero. The lease is lost if another node has written the record.
func (l *Lease) mine(ctx context.Context) (e Entry, err error) {
	ctx, cancel := context.WithTimeout(ctx, l.claim.Timing.ask())
	defer cancel()
	connection := l.claim.Bucket.Connections()
	if e, err = l.claim.Bucket.Get(ctx, l.claim.Key); errors.Is(err, ErrNone) {
		l.readOver(connection)
		return Entry{}, nil
	}
	if err != nil {
		return e, err
	}
	r, err := decode(e.Value)
	if err != nil {
		return e, fmt.Errorf("%w: %w", ErrLost, err)
	}
	if r.State == empty { // another node waits
		l.readOver(connection)
		return e, nil
	}
	for _, t := range l.terms {
		if t.random == r.Random {
			err := l.adopt(t)
			l.readOver(connection)
			return e, err
		}
	}
	return e, fmt.Errorf("%w: %w", ErrLost, r.held(l.claim.Key))
}

// readOver records that the record was read over a connection, and is still this lease's to write.
func (l *Lease) readOver(connection uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.read.Store(connection)
	close(l.reread)
	l.reread = make(chan struct{})
}

// adopt trusts a write that is the record's current content, from the time it was sent. Earlier writes can no
// longer take effect.
func (l *Lease) adopt(t term) error {
	if !l.Held() {
		return errOver
	}
	for l.terms[0] != t {
		l.terms = l.terms[1:]
	}
	l.trust.Store(&t.sent)
	return nil
}

// Release ends the lease and lets others take the shard at once. It must be called after Keep has returned,
// when the file's last commit is synced and nothing is pending, also for a lost lease. A slow bucket is
// retried until ctx is done. After an error others have to wait as if the node had died.
func (l *Lease) Release(ctx context.Context) error {
	l.end()
	for {
		err := l.release(ctx)
		if again := errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrChanged); !again || ctx.Err() != nil {
			return err
		}
	}
}

// release makes one attempt. After one without an answer, the next finds out its effect.
func (l *Lease) release(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, l.claim.Timing.ask())
	defer cancel()
	e, err := l.claim.Bucket.Get(ctx, l.claim.Key)
	if err != nil {
		return fmt.Errorf("release %s: %w", l.claim.Key, err)
	}
	r, err := decode(e.Value)
	if err != nil {
		return fmt.Errorf("release %s: %w", l.claim.Key, err)
	}
	for _, t := range l.terms {
		if t.random == r.Random {
			r.State, r.Commit, r.Random = free, l.claim.File.Commit(), rand.Text()
			if _, err := l.claim.Bucket.Update(ctx, l.claim.Key, r.encode(), e.Revision); err != nil {
				return fmt.Errorf("release %s: %w", l.claim.Key, err)
			}
			return nil
		}
	}
	return nil // another node's, or released
}

// Yield releases a shard that an earlier process of a node held with a file whose lock the caller has, see [FileID]. It
// does nothing if the record is another one.
func Yield(ctx context.Context, b Bucket, key, id, file string) error {
	e, err := b.Get(ctx, key)
	if errors.Is(err, ErrNone) {
		return nil
	}
	if err != nil {
		return err
	}
	r, err := decode(e.Value)
	if err != nil || r.State != held || r.ID != id || file == "" || r.File != file {
		return err
	}
	r.State, r.Random = free, rand.Text()
	_, err = b.Update(ctx, key, r.encode(), e.Revision)
	return err
}

// pause waits for d, or until ctx is done.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
