package session

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/webhook"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema/config"
)

// How long a crawl that is over waits for its webhook. After a signal it waits less, because it has
// to end within seconds. No message is lost: it is in the state file, and the next command that
// crawls sends it.
const (
	lastDelivery   = 30 * time.Second
	hurriedAtBreak = 5 * time.Second
)

// NewSender returns a sender of messages to the webhook of a configuration.
func NewSender(cfg *config.Config, log *slog.Logger) (*webhook.Sender, error) {
	sender, err := webhook.New(cfg, log)
	if err != nil {
		return nil, term.WrongConfig(err)
	}
	return sender, nil
}

// telling sends messages during a walk. end stops that, and sends the messages that are left if
// there is time.
func (w *walk) telling(ctx context.Context, walks bool) (end func(error)) {
	var g errgroup.Group
	sending, hush := context.WithCancel(context.Background())
	if walks {
		g.Go(func() error { return w.sender.Run(sending, w.crawl) })
	}
	return func(failed error) {
		until, cancel := context.WithTimeout(context.Background(), lastDelivery)
		defer cancel()
		defer context.AfterFunc(until, hush)()
		defer context.AfterFunc(ctx, func() {
			if early(ctx) != nil {
				time.AfterFunc(hurriedAtBreak, cancel)
			}
		})()
		err := g.Wait()
		hush()
		if errors.Is(err, crawl.ErrEnded) {
			err = nil
		}
		if !errors.Is(failed, crawl.ErrNoRoom) && !statefile.StoreFailed(failed) {
			err = errors.Join(err, w.tellLast(ctx, until))
		}
		if err != nil && !(statefile.StoreFailed(failed) && statefile.StoreFailed(err)) { // this is reported at the end
			w.log.Warn("the webhook could not be notified", "error", err)
		}
	}
}

// tellLast sends the messages that wait at the end of the walk, and reports how many it could not
// send.
func (w *walk) tellLast(ctx, until context.Context) error {
	if w.cfg.Load().Monitor.Webhook == "" {
		return nil
	}
	left, err := w.sender.Flush(until, w.store)
	if left > 0 && early(ctx) == nil { // after a signal the last line says how to resume
		w.voice.Tell(term.Event("messages wait for the webhook",
			fmt.Sprintf("  %s the webhook; the next crawl sends what is due", waitFor(left)), "messages", left))
	}
	return err
}

func waitFor(n int) string {
	if n == 1 {
		return "1 message waits for"
	}
	return term.Count(n, "message", "messages") + " wait for"
}

// tellFull tells the webhook that the disk is full.
func (w *walk) tellFull(free uint64) {
	cfg := w.cfg.Load()
	w.sender.Tell(webhook.DiskLow, webhook.Disk{Subject: webhook.SubjectOf(cfg, 0), Free: free})
}

var _ webhook.Box = (*kv.Store)(nil) // of a walk that is over
