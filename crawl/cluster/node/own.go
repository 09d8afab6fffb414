package node

import (
	"context"
	"errors"
	"fmt"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/cluster/hub"
	"github.com/sumi-ripple/ripple/crawl/cluster/lease"
	"github.com/sumi-ripple/ripple/crawl/cluster/strictjson"
	"github.com/sumi-ripple/ripple/kv"
)

var (
	// ErrGone reports that the file of a shard, which this node has made, is no longer here.
	ErrGone = errors.New("the file of a shard is missing")

	// ErrTwin reports another process with the ID of this node, because a machine was copied.
	ErrTwin = errors.New("another machine runs as this node")

	errReleased  = errors.New("the shard was released")
	errElsewhere = errors.New("another node has the file of the shard")
	errUnfit     = errors.New("the shard cannot be crawled with its file")
)

// own holds a shard until the run is over. left reports that this node must not hold the shard again in the same epoch.
// That is so if
//   - the shard was released, or given to another node
//   - the file has recorded that the run was ended
//   - another node has the file that this node was to create
//   - the file arrived while the node was running, and is unusable, or is an older copy while those of other shards are
//     good
//   - the file is gone while those of other shards are here
func (n *node) own(ctx context.Context, shard int, f *file, came bool) (left bool, epoch uint64, err error) {
	epoch, err = n.hold(ctx, shard, f)
	var held *lease.HeldError
	switch {
	case errors.Is(err, errReleased):
		n.OnShard(shard, "released")
	case errors.Is(err, errMoved):
		n.OnShard(shard, "moved")
	case errors.Is(err, errGiven):
	case n.ends != nil && errors.Is(err, n.ends):
	case came && (errors.Is(err, lease.ErrFile) || errors.Is(err, errUnfit) || errors.As(err, &held)),
		came && errors.Is(err, kv.ErrLost):
		n.Log.Warn("a new file cannot be used", "shard", shard, "why", err)
		n.OnShard(shard, "stale")
	case n.several && errors.Is(err, lease.ErrFile) && !errors.Is(err, errElsewhere) && n.good.Add(-1) > 0:
		n.Log.Warn("a file is not used, the others are; put the newest copy in its place, or move it away",
			"shard", shard, "why", err)
		n.OnShard(shard, "stale")
	case errors.Is(err, errElsewhere):
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

// hold takes a shard, crawls it, and answers for it until the run is over on all shards or the shard is released.
// It opens the file if f is nil, and closes it. epoch is the one in which the shard was held, or was to be held.
func (n *node) hold(ctx context.Context, shard int, f *file) (epoch uint64, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	for again := false; ; again = true {
		if f == nil {
			if f, err = n.open(ctx, shard, again); err != nil {
				return epoch, err
			}
		}
		f.release = cancel
		err := (&holding{node: n, shard: shard, file: f}).once(ctx)
		if f.empty() && ctx.Err() == nil { // otherwise err may be that of another shard
			err = n.unmake(f, err)
		}
		if errors.Is(err, errMoved) {
			if kept := f.retire(); kept != nil {
				n.Log.Warn("the file of a shard that was moved could not be renamed", "path", f.path, "error", kept)
			}
		}
		epoch, f = f.epoch, nil
		if errors.Is(err, errNotMoved) {
			if ctx.Err() != nil {
				return epoch, context.Cause(ctx)
			}
			continue
		}
		switch lost := errors.Is(err, crawl.ErrLease) || errors.Is(err, lease.ErrLost); {
		case lost && ctx.Err() != nil: // a shard that was released is not lost
			return epoch, context.Cause(ctx)
		case !lost:
			return epoch, n.twin(ctx, shard, err)
		}
		n.Log.Warn("a shard is taken again", "shard", shard, "why", err)
		n.OnShard(shard, "lost")
	}
}

// open opens the file of a shard. again: it was open before, so open waits while another process reads it.
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

// unmake discards an empty file that was made here, if err says that the shard cannot be taken with it. It returns
// errElsewhere if another node has the file, and ErrGone if this node has lost its own file. It keeps a file whose
// shard is held under this node's own name: that claim names this very file.
func (n *node) unmake(f *file, err error) error {
	held, written := new(lease.HeldError), new(lease.WrittenError)
	switch {
	case errors.Is(err, lease.ErrRecreated),
		errors.As(err, &held) && held.ID != n.ID,
		errors.As(err, &written) && written.ID != n.ID:
		err = fmt.Errorf("%w: %w", errElsewhere, err)
	case errors.Is(err, lease.ErrFile):
		err = fmt.Errorf("%w: %s", ErrGone, f.path)
	default:
		return err
	}
	return errors.Join(err, f.discard())
}

// twin returns [ErrTwin] if err comes from another process that holds a shard with the ID of this node, and tells that
// process about this one, so that it ends as well. Otherwise it returns err.
func (n *node) twin(ctx context.Context, shard int, err error) error {
	var held *lease.HeldError
	renewed := errors.As(err, &held) && held.ID == n.ID
	if !renewed && !errors.Is(err, ErrGone) {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	if h, failed := lease.Look(ctx, n.bucket, hub.Key(shard)); failed == nil && h.Held && h.ID == n.ID {
		var other twin
		text, failed := n.wire.send(ctx, shard, forTwin, strictjson.Encode(twin{h.Instance, n.where()}))
		if failed == nil && decode(text, &other) == nil {
			return fmt.Errorf("%w: %.200q has shard %d as well", ErrTwin, other.Name, shard)
		}
	}
	if renewed {
		err = fmt.Errorf("%w, and does not answer: %w", ErrTwin, err)
	}
	return err
}
