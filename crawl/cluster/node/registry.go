package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/sumi-ripple/ripple/crawl/cluster/hub"
	"github.com/sumi-ripple/ripple/crawl/cluster/lease"
	"github.com/sumi-ripple/ripple/crawl/cluster/strictjson"
)

// A registry is the charter in the hub's bucket.
type registry struct {
	bucket lease.Bucket
	timing lease.Timing
	log    *slog.Logger // nil: a change fails if the hub has not accepted it within Patience
	told   atomic.Bool  // it was logged that the hub accepts no changes, and it has accepted none since
}

// read returns the charter and its revision; nil: the hub has none.
func (r *registry) read(ctx context.Context) (*charter, uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, r.timing.Renew/3) // short, so that a new hub is noticed soon
	defer cancel()
	if _, err := r.bucket.Session(ctx); err != nil { // re-creates the bucket if the hub has lost it
		return nil, 0, err
	}
	e, err := r.bucket.Get(ctx, charterKey)
	if errors.Is(err, lease.ErrNone) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	c, err := decodeCharter(e.Value)
	return c, e.Revision, err
}

// change calls f with the charter, or nil if the hub has none, and writes what f returns by compare-and-swap. It
// retries until the hub has accepted that, or f returns nil because there is nothing to write. It returns the
// resulting charter. After a write without an answer, f is called again: the charter may already contain the first
// change, and f must not make it twice.
func (r *registry) change(ctx context.Context, f func(*charter) (*charter, error)) (*charter, error) {
	for began := time.Now(); ; {
		was, revision, err := r.read(ctx)
		if err == nil {
			next, err2 := f(was)
			if err2 != nil || next == nil {
				return was, err2
			}
			if err = r.write(ctx, next, revision); err == nil {
				r.told.Store(false)
				return next, nil
			}
		}
		switch waited := time.Since(began) > r.timing.Patience(); {
		case errors.Is(err, lease.ErrChanged):
			continue
		case errors.Is(err, ErrProtocol), errors.Is(err, errCharter):
			return nil, err
		case waited && r.log == nil:
			return nil, fmt.Errorf("the hub has not accepted the change within %s: %w", r.timing.Patience(), err)
		case waited && !errors.Is(err, hub.ErrAway) && !r.told.Swap(true):
			r.log.Warn("the hub accepts no changes from this node; trying again", "error", err)
		}
		if err := sleep(ctx, r.timing.Renew/10); err != nil {
			return nil, err
		}
	}
}

func (r *registry) write(ctx context.Context, c *charter, revision uint64) (err error) {
	ctx, cancel := context.WithTimeout(ctx, r.timing.Renew)
	defer cancel()
	if revision == 0 {
		_, err = r.bucket.Create(ctx, charterKey, strictjson.Encode(c))
	} else {
		_, err = r.bucket.Update(ctx, charterKey, strictjson.Encode(c), revision)
	}
	if errors.Is(err, lease.ErrTooLarge) {
		err = fmt.Errorf("%w of %d bytes, with %d nodes: %w", errCharter, len(strictjson.Encode(c)), len(c.Nodes), err)
	}
	return err
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
