package lease

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
)

// A Given is a shard whose file has been given up.
type Given struct {
	Epoch  uint64 // of the only file that can be taken from now on
	claim  Claim
	random string // of the record that gives the file up
	before Entry  // the record that was replaced; zero: none
}

// Recreate gives up the file of a shard: from now on only a file with the epoch returned, which is greater than
// above, can be taken, and at once. It waits as long as Take does plus Renew, so that a node waiting with the
// file comes first. The claim needs no file. After an error nothing is given up, unless the error says
// otherwise.
func Recreate(ctx context.Context, c Claim, above uint64) (*Given, error) {
	long := c
	long.Timing.Watch += c.Timing.Renew
	t, own := &taker{Claim: long}, record{State: recreate, ID: c.ID, Node: c.Node, Random: rand.Text()}
	g := &Given{claim: c, random: own.Random}
	err := t.until(ctx, func() (bool, error) {
		session, e, r, err := t.look(ctx)
		if err != nil || t.away != nil {
			return false, err
		}
		if g.Epoch = r.Epoch; r.Random == own.Random {
			return true, nil
		}
		instance := Instance(session)
		if may, err := t.watch(instance, e.Revision, r, t.wait(instance, r)); err != nil || !may {
			return false, err
		}
		own.Epoch, g.before = max(r.Epoch, above)+1, e
		t.update(ctx, own, e.Revision)
		return false, nil
	})
	if err == nil {
		return g, nil
	}
	if back := g.Back(ctx); back != nil {
		err = fmt.Errorf("%w; %w", err, back)
	}
	return nil, err
}

// Back restores the previous record of a shard, unless another node has written one since, which is just as
// good. It does so even if ctx is done, and takes at most Renew. After an error the file may be given up.
func (g *Given) Back(ctx context.Context) error {
	if g.before.Value == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), g.claim.Timing.Renew)
	defer cancel()
	for {
		err := g.back(ctx)
		if err == nil {
			return nil
		}
		if ended := pause(ctx, g.claim.Timing.look()); ended != nil {
			return fmt.Errorf("%s may have been given up; if so, recreate it: %w", g.claim.Key, err)
		}
	}
}

// back makes one attempt. It writes the record even if it has never changed, so that a pending write meets
// another revision and has no effect.
func (g *Given) back(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, g.claim.Timing.ask())
	defer cancel()
	e, err := g.claim.Bucket.Get(ctx, g.claim.Key)
	if errors.Is(err, ErrNone) {
		return nil
	}
	if err != nil {
		return err
	}
	if r, err := decode(e.Value); e.Revision != g.before.Revision && (err != nil || r.Random != g.random) {
		return nil // another node's, or already restored
	}
	_, err = g.claim.Bucket.Update(ctx, g.claim.Key, g.before.Value, e.Revision)
	return err
}
