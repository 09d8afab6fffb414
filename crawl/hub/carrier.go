package hub

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/nats-io/nats.go"
	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/crawl/exchange"
	"github.com/sumi-ripple/ripple/crawl/lease"
	"github.com/sumi-ripple/ripple/schema"
)

const (
	maxWaiting   = 64                     // messages to a shard; what comes while so many wait is lost, and sent again
	maxAnswering = 32                     // of a shard at a time: each waits for a commit, or asks others, who ask back
	maxMessage   = exchange.MaxLetter + 1 // bytes: a letter, and what says that it is one
)

// A Carrier is the [exchange.Carrier] of a terrain.
type Carrier struct {
	bucket *Bucket

	mu       sync.Mutex
	openings map[int]schema.Opening // in which shards were last found
}

var _ exchange.Carrier = (*Carrier)(nil)

// Carrier returns the carrier of the terrain whose bucket this is.
func (b *Bucket) Carrier() *Carrier {
	return &Carrier{bucket: b, openings: map[int]schema.Opening{}}
}

// subject is where the letters to a shard go that is open.
func (b *Bucket) subject(shard int, opening schema.Opening) string {
	return fmt.Sprintf("ripple.%x.%d.%x", b.terrain, shard, opening)
}

// Ask is of [exchange.Carrier]. The letter goes to the opening in which the shard was last
// found, and if nobody hears there to the one that its lease names now.
func (c *Carrier) Ask(ctx context.Context, shard int, letter []byte) ([]byte, error) {
	if len(letter) > maxMessage {
		return nil, fmt.Errorf("message of %d bytes", len(letter))
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		opening, known, err := c.find(ctx, shard)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", exchange.ErrNobody, err)
		}
		answer, err := c.bucket.conn.nats.RequestWithContext(ctx, c.bucket.subject(shard, opening), letter)
		if err == nil {
			return answer.Data, nil
		}
		c.forget(shard)
		if !known || !errors.Is(err, nats.ErrNoResponders) {
			return nil, fmt.Errorf("%w: shard %d: %w", exchange.ErrNobody, shard, err)
		}
	}
}

// find returns the opening of a shard, and whether that was known before.
func (c *Carrier) find(ctx context.Context, shard int) (o schema.Opening, known bool, err error) {
	c.mu.Lock()
	o, known = c.openings[shard]
	c.mu.Unlock()
	if known {
		return o, true, nil
	}
	h, err := lease.Look(ctx, c.bucket, Key(shard))
	if err != nil {
		return o, false, err
	}
	if !h.Held {
		return o, false, fmt.Errorf("nobody has shard %d", shard)
	}
	c.mu.Lock()
	c.openings[shard] = h.Opening
	c.mu.Unlock()
	return h.Opening, false, nil
}

func (c *Carrier) forget(shard int) {
	c.mu.Lock()
	delete(c.openings, shard)
	c.mu.Unlock()
}

// A Post is where the messages to a shard arrive.
type Post struct {
	Shard   int
	Opening schema.Opening // of the shard's file
	Held    func() bool    // whether the shard is still this node's
	// Answer answers a message; several are answered at a time. An error is no answer.
	Answer func(context.Context, []byte) ([]byte, error)
}

// Serve answers the messages that arrive until ctx is done or the connection is closed, and
// returns when all are answered. Those that arrive when the shard is not held any more are
// neither applied nor answered.
func (b *Bucket) Serve(ctx context.Context, p Post) error {
	s, err := b.conn.nats.SubscribeSync(b.subject(p.Shard, p.Opening))
	if err != nil {
		return fmt.Errorf("messages to shard %d: %w", p.Shard, err)
	}
	defer func() { _ = s.Unsubscribe() }() // fails only where the connection is closed
	if err := s.SetPendingLimits(maxWaiting, maxWaiting*maxMessage); err != nil {
		return fmt.Errorf("messages to shard %d: %w", p.Shard, err)
	}
	var g errgroup.Group
	g.SetLimit(maxAnswering)
	defer g.Wait()
	for {
		m, err := s.NextMsgWithContext(ctx)
		switch {
		case errors.Is(err, nats.ErrSlowConsumer): // some were lost; the next one is there
			continue
		case err != nil:
			return fmt.Errorf("messages to shard %d: %w", p.Shard, err)
		}
		g.Go(func() error { p.answer(ctx, m); return nil })
	}
}

func (p *Post) answer(ctx context.Context, m *nats.Msg) {
	if !p.Held() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, patience) // nobody waits longer
	defer cancel()
	answer, err := p.Answer(ctx, m.Data)
	if err == nil && p.Held() {
		_ = m.Respond(answer) // a lost answer is asked for again
	}
}
