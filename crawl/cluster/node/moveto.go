package node

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sumi-ripple/ripple/crawl/cluster/hub"
	"github.com/sumi-ripple/ripple/crawl/cluster/lease"
	"github.com/sumi-ripple/ripple/crawl/cluster/strictjson"
	"github.com/sumi-ripple/ripple/schema"
)

// ErrNode reports a name that is not that of exactly one node of the terrain.
var ErrNode = errors.New("no such machine")

// A Moved shard is held by another node than before.
type Moved struct {
	From, To string // names of nodes
}

// Move makes the node that holds a shard give it to another one, which is named by its ID, its name, or the part of its
// name before the colon, and returns when that one holds it. The move continues if ctx is done before. on is called
// with its progress every second. If the shard was given to another node that has not taken it, Move to the node that
// gave it away cancels that.
func Move(
	ctx context.Context, conn *hub.Conn, shard int, to string, timing lease.Timing, on func(Progress),
) (m Moved, err error) {
	t, err := find(ctx, conn)
	if err == nil {
		err = within(shard, t.charter.shards())
	}
	if err != nil {
		return m, err
	}
	target, err := t.node(ctx, to)
	if err != nil {
		return m, err
	}
	h, err := lease.Look(ctx, t.bucket, hub.Key(shard))
	if err != nil {
		return m, err
	}
	m = Moved{h.Node, target.Name}
	w := wish{Move: rand.Text(), To: target}
	switch {
	case h.Held && h.ID == target.ID:
		return m, fmt.Errorf("shard %d: %w", shard, errThere)
	case h.Held:
		err = t.wish(ctx, shard, w, on)
	case h.ID == target.ID || h.ID == "": // otherwise the target cannot have given it away
		err = t.keep(ctx, shard, w, timing)
	default:
		err = fmt.Errorf("shard %d: %w", shard, errNobodyHas)
	}
	if err != nil {
		return m, err
	}
	return m, t.arrives(ctx, shard, w, on)
}

var (
	errThere     = errors.New("that machine has it already")
	errNobodyHas = errors.New("no machine holds it at the moment, so its file cannot be copied")
)

// node returns the node with a name.
func (t *Terrain) node(ctx context.Context, name string) (peer, error) {
	c := t.charter.clone()
	for n := range c.shards() { // the hub may have forgotten who joined
		if h, err := lease.Look(ctx, t.bucket, hub.Key(n)); err == nil && h.Held {
			c.introduce(peer{h.ID, h.Node})
		}
	}
	var all []string
	for _, is := range []func(p peer) bool{
		func(p peer) bool { return p.ID == name || p.Name == name },
		func(p peer) bool { host, _, _ := strings.Cut(p.Name, ":"); return host == name },
	} {
		var found []peer
		for _, p := range c.Nodes {
			if all = append(all, schema.Clean(p.Name, 100)); is(p) {
				found = append(found, p)
			}
		}
		if len(found) == 1 {
			return found[0], nil
		}
	}
	slices.Sort(all)
	return peer{}, fmt.Errorf("%w as %q, or several: the terrain has %s", ErrNode, name,
		strings.Join(slices.Compact(all), ", "))
}

// wish asks the node that holds a shard for a move, until it has answered.
func (t *Terrain) wish(ctx context.Context, shard int, w wish, on func(Progress)) error {
	p, err := t.progress(ctx, shard, w)
	for tries := 0; err != nil && tries < 3; tries++ { // the answer may be late
		p, err = t.progress(ctx, shard, w)
	}
	if err == nil {
		on(p)
		err = p.failed()
	}
	return err
}

func (t *Terrain) progress(ctx context.Context, shard int, w wish) (p Progress, err error) {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	text, err := wire{carrier: t.bucket.Carrier()}.send(ctx, shard, forMove, strictjson.Encode(w))
	if err == nil {
		err = decode(text, &p)
	}
	return p, err
}

// failed returns the reason why a shard is not moved; nil: it may be.
func (p Progress) failed() error {
	if !p.Over {
		return nil
	}
	return fmt.Errorf("%w: %s", errNotMoved, schema.Clean(p.Why, 300))
}

// keep asks a node that has given a shard away to keep it.
func (t *Terrain) keep(ctx context.Context, shard int, w wish, timing lease.Timing) error {
	ctx, cancel := context.WithTimeout(ctx, timing.Patience())
	defer cancel()
	_, err := t.bucket.AskNode(ctx, forMove, w.To.ID, strictjson.Encode(order{toKeep, shard, w.Move, 0}))
	return err
}

// arrives returns when the node to which a shard is moved holds it, or the move has failed.
func (t *Terrain) arrives(ctx context.Context, shard int, w wish, on func(Progress)) error {
	w.Ask = true
	for next := time.Now(); ; {
		h, err := lease.Look(ctx, t.bucket, hub.Key(shard))
		if err == nil && h.Held && h.ID == w.To.ID {
			return nil
		}
		if err == nil && h.Held && time.Now().After(next) {
			next = time.Now().Add(time.Second)
			p, err := t.progress(ctx, shard, w)
			if err == nil {
				on(p)
				err = p.failed()
				if err != nil {
					return err
				}
			}
		}
		if err := sleep(ctx, lookEvery); err != nil {
			return err
		}
	}
}
