package node

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/webhook"
	"github.com/sumi-ripple/ripple/schema/config"
)

const (
	lastTelling = 30 * time.Second       // to send the messages of a file that is closed
	hurried     = 5 * time.Second        // the same, on a node that has to stop
	counting    = 10 * time.Second       // for the reports of the other shards
	countAgain  = 100 * time.Millisecond // before a shard is asked again
	lowAgain    = 10 * time.Minute       // between two messages that the disk is full
)

// A teller sends the messages of a node's shards to the webhook.
type teller struct {
	member *member
	cfg    *configured
	wire   wire
	log    *slog.Logger
	low    atomic.Pointer[time.Time] // when it last reported a full disk
}

// send sends the messages in a file until ctx is done.
func (t *teller) send(ctx context.Context, sender *webhook.Sender, box webhook.Box) error {
	err := sender.Run(ctx, box)
	if err != nil && !errors.Is(err, crawl.ErrEnded) && !errors.Is(err, crawl.ErrLease) {
		t.log.Warn("the webhook could not be notified", "error", err)
	}
	return nil
}

// sendLast sends the messages that are left in a file before it is closed, as far as there is time. There is less
// if ctx is done, because the node has to stop.
func (t *teller) sendLast(ctx context.Context, shard int, sender *webhook.Sender, box webhook.Box) {
	if cfg, _ := t.cfg.now(); cfg.Monitor.Webhook == "" {
		return
	}
	until, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastTelling)
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(hurried, cancel) })()
	left, err := sender.Flush(until, box)
	switch {
	case err != nil && !errors.Is(err, crawl.ErrLease): // otherwise the next holder of the shard sends them
		t.log.Warn("the webhook could not be notified", "shard", shard, "error", err)
	case left > 0:
		t.log.Info("messages wait for the webhook; the next node that crawls the shard sends them", "shard", shard,
			"messages", left)
	}
}

// full reports to the webhook that the disk is full, once for all shards that notice.
func (t *teller) full(sender *webhook.Sender, free uint64) {
	now, before := time.Now(), t.low.Load()
	if before != nil && now.Sub(*before) < lowAgain || !t.low.CompareAndSwap(before, &now) {
		return
	}
	cfg, _ := t.cfg.now()
	sender.Tell(webhook.DiskLow, webhook.Disk{Subject: webhook.SubjectOf(cfg, 0), Free: free})
}

// follow makes a sender continue under another configuration.
func (t *teller) follow(sender *webhook.Sender, cfg *config.Config) {
	if err := sender.Follow(cfg); err != nil {
		t.log.Error("the webhook keeps its earlier settings", "error", err)
	}
}

// run returns a function that adds the results of all other shards to the message about the end of the run. Shard
// 0 sends that message; for any other shard, run returns nil.
func (t *teller) run(ctx context.Context, shard int) func(*webhook.Run) {
	if shard != 0 {
		return nil
	}
	return func(run *webhook.Run) {
		most := counting
		if ctx.Err() != nil {
			most = hurried / 2
		}
		asking, cancel := context.WithTimeout(context.WithoutCancel(ctx), most)
		defer cancel()
		reports := make([]*Report, t.member.get().shards())
		var g errgroup.Group
		for other := 1; other < len(reports); other++ {
			g.Go(func() error { reports[other] = t.wire.report(asking, other); return nil })
		}
		_ = g.Wait()
		for _, r := range reports[1:] {
			addReport(run, r)
		}
	}
}

// report asks a shard repeatedly for its report; nil: it has not answered before ctx was done.
func (w wire) report(ctx context.Context, shard int) *Report {
	for {
		r := &Report{}
		asking, cancel := context.WithTimeout(ctx, time.Second)
		text, err := w.send(asking, shard, forReport, nil)
		cancel()
		if err == nil && decode(text, r) == nil && r.Status.RunID != 0 { // otherwise it is about to begin
			return r
		}
		if sleep(ctx, countAgain) != nil {
			return nil
		}
	}
}

// addReport adds the results of a shard; nil: it has not answered.
func addReport(run *webhook.Run, r *Report) {
	if r == nil {
		run.Missing++
		return
	}
	run.Pages += r.Status.Pages
	run.Requests += r.Status.Requests
	for kind, k := range r.Status.Errors {
		run.Errors[kind] += k
	}
}
