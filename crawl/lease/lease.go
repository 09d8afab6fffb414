// Package lease decides which node may work on a shard of a terrain: the one that a
// record in a bucket names, for as long as that node may trust it.
//
// [Take] waits until the shard is nobody's and claims it, [Lease.Keep] renews the claim,
// and [Lease.Held] says whether it may still be trusted. Whoever asks a web server, or
// writes or answers a message, looks at Held just before.
//
// # Why two nodes never hold one shard
//
// A record is only ever changed by compare-and-swap on the revision that was read. Every
// write bears a fresh random number. The holder trusts a write for [Timing] Trust from the
// moment before it was sent. A taker claims a record that it has seen unchanged for Watch,
// from the moment after it was first read, which is longer; a claim that is younger than
// what was read meets another revision, and comes to nothing. So the intervals of trust
// never overlap where clocks run at about the same rate: Watch is a fifth longer than Trust.
//
// The clock goes on while the machine is suspended. In a virtual machine that is halted it cannot, but the wall
// clock jumps against it afterwards, and a jump ends the trust. A machine that is halted and then shows no jump
// is not covered.
//
// If there is no record, a taker makes an empty one and watches that. So a bucket that
// was wiped is no special case, if its revisions match none of the old ones. A watch
// counts only within one session, and so does the claim that ends it, because what a hub has
// lost may come back as it was before.
//
// Three claims need no watch: of a record that its holder has released, of one that gives its
// file up, which was watched before, and of one that the same node has written for the same
// file, whose lock it holds. All believe what the bucket says. So the store of a hub is never
// put back from a copy: it is thrown away.
//
// # The file
//
// A record names the opening and the commit of the file that it was written for, and a
// file that does not contain both is refused: it is an older copy, or another one. A file
// that is gone for good is given up by [Anew]: the record then has a higher epoch, and so has
// the file that is made for it, which need contain nothing. Those of lower epochs are refused, unless
// [Given.Back] has the record be as it was.
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

// ErrLost reports that a lease cannot be trusted any more. Whoever had it may take it anew.
var ErrLost = errors.New("the shard is no longer ours")

var errOver = fmt.Errorf("%w: it could not be renewed in time, or the clock has jumped", ErrLost)

// A Lease is one time that a node holds a shard. Its methods may be called by several
// goroutines, but Keep and Release by one.
type Lease struct {
	claim Claim
	own   record // as it was written last
	terms []term // writes that may be the record's present content; the first is confirmed
	trust atomic.Pointer[Instant]
	ended atomic.Bool
	lost  chan struct{}
	close func() // closes lost, once
}

// A term is a write that bears a random number.
type term struct {
	random string
	sent   Instant // before it was
}

func newLease(c Claim, own record, sent Instant) *Lease {
	l := &Lease{claim: c, own: own, terms: []term{{own.Random, sent}}, lost: make(chan struct{})}
	l.close = sync.OnceFunc(func() { close(l.lost) })
	l.trust.Store(&sent)
	return l
}

// Held reports whether the shard is this node's at this moment. Once it has reported false, it always does.
func (l *Lease) Held() bool {
	if l.ended.Load() {
		return false
	}
	from := l.trust.Load() // before the clock: it only grows
	if l.claim.Timing.trusts(*from, l.claim.Clock()) {
		return true
	}
	l.ended.Store(true)
	return false
}

// Lost is closed when Held has become false, while Keep runs, or when it ends.
func (l *Lease) Lost() <-chan struct{} { return l.lost }

// Keep renews the lease until ctx is done or it is lost, and returns why: the context's
// error, with the lease held for what is left of its trust, or ErrLost.
func (l *Lease) Keep(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return l.watch(ctx) })
	g.Go(func() error { return l.renew(ctx) })
	err := g.Wait()
	if !errors.Is(err, ErrLost) && !l.Held() { // ctx was done before watch saw that
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

// watch returns when the trust has ended. It looks often, as timers stand still while the
// machine is suspended.
func (l *Lease) watch(ctx context.Context) error {
	for l.Held() {
		left := l.claim.Timing.Trust - (l.claim.Clock().Run - l.trust.Load().Run)
		if err := pause(ctx, max(min(left, l.claim.Timing.look()), time.Millisecond)); err != nil {
			return err
		}
	}
	l.end()
	return errOver
}

// renew renews the lease at once, because a claim does not name the file, and then again and again.
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
		if err := pause(ctx, wait); err != nil {
			return err
		}
	}
}

// again renews the lease once. It reads the record first, to learn what has become of
// writes without an answer, and of the bucket.
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
	if _, err := l.claim.Bucket.Update(ctx, l.claim.Key, r.encode(), e.Revision); err != nil {
		return err
	}
	l.own = r
	return l.adopt(t)
}

// mine reads the record and adopts what this lease has written. The lease is lost if somebody
// else has written the record, or if there is none.
func (l *Lease) mine(ctx context.Context) (Entry, error) {
	ctx, cancel := context.WithTimeout(ctx, l.claim.Timing.ask())
	defer cancel()
	e, err := l.claim.Bucket.Get(ctx, l.claim.Key)
	if errors.Is(err, ErrNone) {
		return e, fmt.Errorf("%w: the hub has lost its record", ErrLost)
	}
	if err != nil {
		return e, err
	}
	r, err := decode(e.Value)
	if err != nil {
		return e, fmt.Errorf("%w: %w", ErrLost, err)
	}
	for _, t := range l.terms {
		if t.random == r.Random {
			return e, l.adopt(t)
		}
	}
	return e, fmt.Errorf("%w: %w", ErrLost, r.held(l.claim.Key))
}

// adopt trusts a write that is the record's present content, from its sending on. What was
// sent before it can no longer take effect.
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

// Release ends the lease and lets others take the shard at once. It is called when Keep
// has returned, the file's last commit is synced and nothing is under way any more, also
// for a lease that is lost. A bucket that answers late is asked again until ctx is done. After
// an error others have to wait as if the node had died.
func (l *Lease) Release(ctx context.Context) error {
	l.end()
	for {
		err := l.release(ctx)
		if again := errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrChanged); !again || ctx.Err() != nil {
			return err
		}
	}
}

// release tries that once. After a try without an answer, the next one reads what has become of it.
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
	return nil // it is somebody else's, or released
}

// pause waits for so long, or until ctx is done.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
