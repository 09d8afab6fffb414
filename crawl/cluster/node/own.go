package node

import (
	"context"
	"errors"
	"fmt"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/cluster/lease"
	"github.com/sumi-ripple/ripple/kv"
)

var (
	// ErrGone reports a shard whose file this node has made, and that is not here any more.
	ErrGone = errors.New("the file of a shard is not here any more")

	// ErrTwin reports a shard that another machine has which is called like this one.
	ErrTwin = errors.New("another machine has the name of this one, and a shard that this one was to make")

	errReleased  = errors.New("the shard was released")
	errElsewhere = errors.New("another node has the file of the shard")
	errUnfit     = errors.New("the shard cannot be crawled with its file")
)

// own holds a shard. left: it is left alone from then on, as long as its epoch is the same. That is so if it was
// let go, if this node was to make its file and another node has it, if the file has come while the node was
// running and cannot be used, or if the file is gone while those of other shards are here.
func (n *node) own(ctx context.Context, shard int, f *file, came bool) (left bool, epoch uint64, err error) {
	epoch, err = n.hold(ctx, shard, f)
	var held *lease.HeldError
	switch {
	case errors.Is(err, errReleased):
		n.OnShard(shard, "released")
	case n.ends != nil && errors.Is(err, n.ends):
	case came && (errors.Is(err, lease.ErrFile) || errors.Is(err, errUnfit) || errors.As(err, &held)),
		came && errors.Is(err, kv.ErrLost):
		n.Log.Warn("a file that has come cannot be used", "shard", shard, "why", err)
	case errors.Is(err, errElsewhere), errors.Is(err, ErrTwin) && n.files:
		n.Log.Warn("a shard that this node was to make is left to another", "shard", shard, "why", err)
		n.OnShard(shard, "elsewhere")
	case errors.Is(err, ErrGone) && n.files:
		n.Log.Warn("put it back, or run \"ripple shard recreate\"", "shard", shard, "why", err)
		n.OnShard(shard, "gone")
	default:
		return false, epoch, err
	}
	return true, epoch, nil
}

// hold takes a shard, crawls it, and answers for it until the run is over everywhere, or
// until somebody wants it to be let go. It opens the file if that is nil, and closes it. The
// epoch is that in which the shard was held, or was to be.
func (n *node) hold(ctx context.Context, shard int, f *file) (epoch uint64, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	for again := false; ; again = true {
		if f == nil {
			if f, err = n.open(ctx, shard, again); err != nil {
				return epoch, err
			}
		}
		f.release = func() { cancel(errReleased) }
		err := (&holding{node: n, shard: shard, file: f}).once(ctx)
		if f.empty() && ctx.Err() == nil { // or err may be why another shard's has ended
			if err = n.unmake(f, err); errors.Is(err, ErrGone) && n.answers(ctx, shard) {
				err = fmt.Errorf("%w: shard %d", ErrTwin, shard)
			}
		}
		epoch, f = f.epoch, nil
		switch lost := errors.Is(err, crawl.ErrLease) || errors.Is(err, lease.ErrLost); {
		case lost && ctx.Err() != nil: // a shard that is let go of is none that is lost
			return epoch, context.Cause(ctx)
		case !lost:
			return epoch, err
		}
		n.Log.Warn("a shard is taken again", "shard", shard, "why", err)
		n.OnShard(shard, "lost")
	}
}

// open opens the file of a shard. again: it was open before, and whoever reads it just now is waited for.
func (n *node) open(ctx context.Context, shard int, again bool) (*file, error) {
	for said := false; ; said = true {
		f, err := openFile(&n.Options, shard)
		if !again || !errors.Is(err, kv.ErrLocked) {
			return f, err
		}
		if !said {
			n.Log.Warn("a shard cannot be taken yet", "shard", shard, "error", err)
		}
		if err := sleep(ctx, n.Timing.Renew/10); err != nil {
			return nil, err
		}
	}
}

// unmake discards an empty file that was made here, if err says that the shard cannot be taken with it, and
// tells whether another node has the file: the charter may not know that one has come with it. If a claim of
// this node itself is in the way, it names this very file, which stays.
func (n *node) unmake(f *file, err error) error {
	held, written := new(lease.HeldError), new(lease.WrittenError)
	switch {
	case errors.Is(err, lease.ErrRecreated),
		errors.As(err, &held) && held.Node != n.Name,
		errors.As(err, &written) && written.Node != n.Name:
		err = fmt.Errorf("%w: %w", errElsewhere, err)
	case errors.Is(err, lease.ErrFile):
		err = fmt.Errorf("%w: %s", ErrGone, f.path)
	default:
		return err
	}
	return errors.Join(err, f.discard())
}

// answers reports whether somebody answers for a shard, which is not this process.
func (n *node) answers(ctx context.Context, shard int) bool {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	_, err := n.wire.send(ctx, shard, forReport, nil)
	return err == nil
}
