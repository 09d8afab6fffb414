package crawl

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/crawl/answers"
	"github.com/sumi-ripple/ripple/crawl/cluster/exchange"
	"github.com/sumi-ripple/ripple/crawl/render"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/crawl/robots"
	"github.com/sumi-ripple/ripple/crawl/webhook"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// inquiryTime limits the time for all pieces of a report together, as for a body.
const inquiryTime = 5 * time.Minute

// senderPace returns the pace of letters to another shard, which follows the commits of both.
func senderPace() exchange.Pace {
	return exchange.Pace{Rest: 500 * time.Millisecond, First: 250 * time.Millisecond, Last: 30 * time.Second}
}

// A member makes a crawl one of several on a terrain: it has a sender for every other shard, their submissions, and the
// lease. It is nil in a crawl of a whole terrain; the methods of a nil member do nothing and refuse nothing.
type member struct {
	*Shard
	heard  *listener // the carrier
	crawl  *Crawl
	tells  chan submission
	behind []chan struct{} // by shard: there may be something to send to it; nil: the crawl's own
	number uint64          // of the configuration; belongs to the goroutine of Run

	senders *errgroup.Group
	sending context.Context // is done early if a sender fails
	cancel  context.CancelFunc
}

// A submission is for the next commit: the content of a letter, a message of the node, or the result of a letter.
type submission struct {
	referrals []ring.Referral
	errands   []ring.Errand
	portion   *ring.Portion      // nil: unchanged
	update    func(*kv.Tx) error // by a sender; nil: none
	done      chan<- error       // gets the error of the commit, and has room for it
}

func newMember(c *Crawl, s *Shard) *member {
	if s == nil {
		return nil
	}
	m := &member{Shard: s, heard: &listener{Carrier: s.Carrier}, crawl: c}
	m.tells, m.behind = make(chan submission), make([]chan struct{}, s.Part.Shards)
	m.number = s.Part.Configuration
	ctx, cancel := context.WithCancel(context.Background())
	m.cancel = cancel
	m.senders, m.sending = errgroup.WithContext(ctx)
	return m
}

// start begins sending to the other shards.
func (m *member) start() {
	if m == nil {
		return
	}
	for peer := range m.behind {
		if peer == m.Part.Shard {
			continue
		}
		m.behind[peer] = make(chan struct{}, 1)
		m.senders.Go(func() error { return m.tell(peer) })
	}
}

// stop ends the senders, and returns when all have ended.
func (m *member) stop() {
	if m == nil {
		return
	}
	m.cancel()
	_ = m.senders.Wait() // mayWrite has reported the failure
}

// tell sends everything there is to another shard. The loss of the lease ends the crawl, and thereby this.
func (m *member) tell(peer int) error {
	err := exchange.NewSender(m.desk(m.sending), m.heard, peer).Run(m.sending, m.behind[peer], senderPace())
	if errors.Is(err, ErrLease) {
		<-m.sending.Done()
	}
	if m.sending.Err() != nil {
		return nil
	}
	return fmt.Errorf("tell shard %d: %w", peer, err)
}

// committed wakes the senders that have something to send after a commit.
func (m *member) committed(store *kv.Store) {
	if m == nil {
		return
	}
	for peer, behind := range m.behind {
		if n, more := store.Marked(peer); n == 0 && !more {
			continue
		}
		select {
		case behind <- struct{}{}:
		default: // woken already, or the crawl's own
		}
	}
}

// wake makes all senders check whether there is something to send.
func (m *member) wake() {
	for _, behind := range m.behind {
		select {
		case behind <- struct{}{}:
		default: // woken already, or the crawl's own
		}
	}
}

// told returns the channel of submissions; nil: there are no other shards.
func (m *member) told() <-chan submission {
	if m == nil {
		return nil
	}
	return m.tells
}

// held reports whether the file may be written, and requests may be sent.
func (m *member) held() bool { return m == nil || m.Shard.held() }

// ready reports whether a request may be prepared, and may wait until that is known.
func (m *member) ready(ctx context.Context) bool {
	return m == nil || m.Shard == nil || m.Lease == nil || m.Lease.Ready(ctx)
}

// maySend returns why no more requests may be sent; nil: they may.
func (m *member) maySend() error {
	if !m.held() {
		return ErrLease
	}
	return nil
}

// lost returns a channel that is closed when the lease is lost; nil: it cannot be.
func (m *member) lost() <-chan struct{} {
	if m == nil || m.Lease == nil {
		return nil
	}
	return m.Lease.Lost()
}

// failed returns a channel that is closed when a sender has failed; nil: none can.
func (m *member) failed() <-chan struct{} {
	if m == nil {
		return nil
	}
	return m.sending.Done()
}

// mayWrite returns why the file must not be written any more; nil: it may.
func (m *member) mayWrite() error {
	switch {
	case !m.held():
		return ErrLease
	case m != nil && !errors.Is(context.Cause(m.sending), context.Canceled):
		return context.Cause(m.sending) // of the sender that failed
	}
	return nil
}

// tellsRun completes the message about the end of the run with the figures of the whole terrain. That may take so long
// that the lease is lost.
func (m *member) tellsRun(run *webhook.Run) (bool, error) {
	if m.Tells == nil {
		return false, nil
	}
	m.Tells(run)
	return true, m.mayWrite()
}

// counts returns why a configuration cannot follow the present one in the terrain; nil: it can.
func (m *member) counts(next changed) error {
	if m == nil || next.number > m.number || next.number == 0 && next.cfg == m.crawl.opts.Config {
		return nil
	}
	return fmt.Errorf("configuration %d of the terrain is not above %d", next.number, m.number)
}

// advance notes, between two walks, the number of the terrain's new configuration; 0: it is unchanged.
func (m *member) advance(number uint64) error {
	if m == nil || number == 0 {
		return nil
	}
	part := m.Part
	part.Configuration, m.number = number, number
	return m.crawl.store.Update(func(tx *kv.Tx) error { return exchange.Enter(tx, part) })
}

// send delegates a step to another shard. The step goes round again until there is a report. free releases the memory
// of the report once it is passed on.
func (m *member) send(ctx context.Context, step ring.Step) (o ring.Outcome, free func()) {
	o = ring.Outcome{Step: step, RetryAfter: -1, Length: -1}
	free = func() {}
	most := int64(robots.MaxBytes)
	if step.Kind == ring.Asset {
		most = step.Settings.Config.Content.MaxResponseBytes
	}
	ctx, cancel := context.WithTimeout(ctx, inquiryTime)
	defer cancel()
	report, known, err := exchange.Inquire(ctx, m.desk(ctx), m.heard, *step.Errand, most, func(size int64) (err error) {
		free, err = step.Settings.Client.Reserve(ctx, size)
		return err
	})
	o.FirstByte = time.Now()
	switch o.Done = o.FirstByte; {
	case err != nil:
		cancelled(&o, err)
	case known:
		o.Bring(report)
	default:
		o.Moved, o.Behind = true, report.Behind
	}
	return o, free
}

// A desk gives the senders and receivers of letters access to the state file of a running crawl. It waits for the crawl
// as long as its context lasts.
type desk struct {
	*member
	ctx context.Context
}

func (m *member) desk(ctx context.Context) desk { return desk{m, ctx} }

// View implements [exchange.Shard].
func (d desk) View(f func(*kv.Tx) error) error {
	if !d.held() {
		return ErrLease
	}
	return d.crawl.query(d.ctx, func(store *kv.Store) error { return store.View(f) })
}

// Update implements [exchange.Shard]: f is a part of the next commit.
func (d desk) Update(f func(*kv.Tx) error) error { return d.commit(submission{update: f}) }

// Apply implements [exchange.Shard].
func (d desk) Apply(referrals []ring.Referral) error {
	return d.commit(submission{referrals: referrals})
}

// Errand implements [exchange.Shard].
func (d desk) Errand(e ring.Errand, at, most int) (report ring.Report, known bool, err error) {
	if e.Kind == ring.Asset {
		return d.asset(e, at, most)
	}
	err = d.crawl.query(d.ctx, func(*kv.Store) error {
		report, known = d.crawl.committer.recorder.Report(e)
		return nil
	})
	if err == nil && !known {
		err = d.commit(submission{errands: []ring.Errand{e}})
	}
	return report.Piece(at, most), known, err
}

// asset is Errand for resources of scripts. The answer is the one that pages of this shard get.
func (d desk) asset(e ring.Errand, at, most int) (report ring.Report, known bool, err error) {
	var kept *answers.Cache
	asked := false
	err = d.crawl.query(d.ctx, func(store *kv.Store) error {
		set := d.crawl.committer.set
		u, wrong := set.Rules.Parse(e.URL)
		switch class := set.Scope.Classify(u.Norm).Class; {
		case wrong != nil, u.HTTP, strings.Contains(e.URL, "#"), store.ForeignName(u.Host()), set.Answers == nil,
			!render.Acceptable(e.Accept):
			report.Refused = "not asked for by that shard"
		case !class.Visitable():
			report.Refused = class.String()
		default:
			kept, asked = set.Answers, d.crawl.committer.recorder.Lends(e.Resource())
		}
		return nil
	})
	if err != nil || kept == nil {
		return report.Piece(0, 0), true, err
	}
	p, known := kept.Piece(e.Resource(), at, most)
	if !known && !asked {
		err = d.commit(submission{errands: []ring.Errand{e}})
	}
	return ring.Report{
		Status: p.Status, Header: p.Header, Refused: p.Refused, Body: p.Body, Size: p.Size, Sum: p.Sum,
	}, known, err
}

// commit returns once a submission is committed.
func (d desk) commit(t submission) error {
	done := make(chan error, 1)
	t.done = done
	select {
	case d.tells <- t:
	case <-d.ctx.Done():
		return d.ctx.Err()
	case <-d.crawl.done:
		return ErrEnded
	}
	select {
	case err := <-done:
		return err
	case <-d.ctx.Done():
		return d.ctx.Err()
	case <-d.crawl.done:
		return ErrEnded
	}
}

// Referral implements [exchange.Shard]; the View has the recorder to itself.
func (d desk) Referral(tx *kv.Tx, id schema.ID) (ring.Referral, error) {
	return d.crawl.committer.recorder.Referral(tx, id)
}

// MarkAgain implements [exchange.Shard]; the Update has the recorder to itself.
func (d desk) MarkAgain(tx *kv.Tx, shard int, from schema.ID, most int) (schema.ID, error) {
	return d.crawl.committer.recorder.MarkAgain(tx, shard, from, most)
}
