package node

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/census"
	"github.com/sumi-ripple/ripple/crawl/cluster/exchange"
	"github.com/sumi-ripple/ripple/crawl/cluster/termination"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/kv"
)

// A door holds the current speaker of a held shard.
type door struct{ atomic.Pointer[speaker] }

func (d *door) open(s speaker) { d.Store(&s) }

// Answer implements speaker. It answers from the content of the file, and applies nothing: what other shards send
// after the end is known already, or waits for the next run.
func (e ended) Answer(_ context.Context, letter []byte) ([]byte, error) {
	return exchange.NewReceiver(e.desk).Answer(letter)
}

// A desk is the file of a shard that is not being crawled. It answers from the content of the file, and hands out
// the webhook messages in it.
type desk struct {
	mu   sync.Mutex
	file *file
	held func() bool
}

// View implements [exchange.Recipient] and [webhook.Box].
func (d *desk) View(f func(*kv.Tx) error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.file.View(f)
}

// Update implements [webhook.Box].
func (d *desk) Update(f func(*kv.Tx) error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.held() {
		return crawl.ErrLease
	}
	err := d.file.Update(f)
	d.file.committed()
	return err
}

// Apply implements [exchange.Recipient].
func (d *desk) Apply([]ring.Referral) error { return crawl.ErrEnded }

// Errand implements [exchange.Recipient].
func (d *desk) Errand(ring.Errand, int, int) (ring.Report, bool, error) {
	return ring.Report{}, false, crawl.ErrEnded
}

// Reading implements speaker.
func (e ended) Reading(context.Context) (termination.Reading, error) {
	if !e.held() {
		return termination.Reading{}, crawl.ErrLease
	}
	return e.reading, nil
}

// Finish implements speaker.
func (e ended) Finish(context.Context, termination.Reading) error {
	if !e.held() {
		return crawl.ErrLease
	}
	return nil
}

// Report implements speaker.
func (e ended) Report(context.Context) (Report, error) {
	return Report{Over: true, Configuration: e.number, Status: e.status}, nil
}

// Stop implements speaker.
func (e ended) Stop() { e.stop() }

// An idle shard waits for others, or is about to begin.
type idle struct {
	cfg   *configured
	stop  func()
	cause census.Cause // what it waits for
	why   string
}

// Answer implements speaker.
func (idle) Answer(context.Context, []byte) ([]byte, error) { return exchange.NotNow(), nil }

// Reading implements speaker.
func (idle) Reading(context.Context) (termination.Reading, error) {
	return termination.Reading{}, errors.New("it has not begun")
}

// Finish implements speaker.
func (idle) Finish(context.Context, termination.Reading) error { return errors.New("it has not begun") }

// Report implements speaker.
func (i idle) Report(context.Context) (Report, error) {
	_, number := i.cfg.now()
	return Report{Configuration: number, Status: census.Status{
		Status: "waiting", Waits: i.why, Left: census.Left{Depth: -1},
		Condition: census.Condition{Name: "waiting", Label: "waiting", Headline: i.why, Cause: i.cause, Commands: []string{}},
	}}, nil
}

// Stop implements speaker.
func (i idle) Stop() { i.stop() }

// A running shard answers for a crawl.
type running struct {
	*crawl.Crawl
	cfg      *configured
	stop     func()
	follower Follower
}

// Report implements speaker.
func (r running) Report(ctx context.Context) (Report, error) {
	backlog, err := r.Backlog(ctx)
	if errors.Is(err, crawl.ErrEnded) { // the end is about to be committed
		err = nil
	}
	_, number := r.cfg.now()
	return Report{Configuration: number, Status: r.follower.Status(ctx), Backlog: backlog}, err
}

// Stop implements speaker.
func (r running) Stop() { r.stop() }
