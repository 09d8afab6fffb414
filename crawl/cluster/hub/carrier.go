package hub

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/nats-io/nats.go"
	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/crawl/cluster/exchange"
	"github.com/sumi-ripple/ripple/crawl/cluster/lease"
	"github.com/sumi-ripple/ripple/schema"
)

const (
	maxWaiting = 128                                 // waiting messages per lane; further ones are lost and sent again
	maxRoom    = 2 * (exchange.MaxLetter + overhead) // bytes of those that wait in a lane, and of those being answered
	isFull     = "Ripple-Full"                       // the header of the answer to a message that is one too many
)

// errFull reports a lane that accepts no more messages at the moment.
var errFull = errors.New("it is already answering as many messages of this kind as it takes")

// A Carrier reaches the shards of a terrain.
type Carrier struct {
	bucket *Bucket

	mu       sync.Mutex
	openings map[int]schema.Opening // in which shards were last found
}

// Carrier returns the carrier of the bucket's terrain.
func (b *Bucket) Carrier() *Carrier {
	return &Carrier{bucket: b, openings: map[int]schema.Opening{}}
}

// subject returns the subject of messages in a lane to a shard's opening.
func (b *Bucket) subject(shard int, opening schema.Opening, lane string) string {
	return fmt.Sprintf("ripple.%x.%d.%x.%s", b.terrain, shard, opening, lane)
}

// nodeSubject returns the subject of messages in a lane to a node.
func (b *Bucket) nodeSubject(node, lane string) string {
	return fmt.Sprintf("ripple.%x.node.%x.%s", b.terrain, node, lane)
}

// subject returns the subject of messages in a lane.
func (p *Post) subject(b *Bucket, lane string) string {
	if p.Node != "" {
		return b.nodeSubject(p.Node, lane)
	}
	return b.subject(p.Shard, p.Opening, lane)
}

// Ask sends a message to a shard, in a lane of its [Post], and returns the answer, or [exchange.ErrNobody].
// It does not retain the message. It first tries the opening in which the shard was last found, and if there is
// no answer, the one that the lease names now.
func (c *Carrier) Ask(ctx context.Context, lane string, shard int, message []byte) ([]byte, error) {
	if len(message) > exchange.MaxLetter {
		return nil, fmt.Errorf("message of %d bytes", len(message))
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		opening, known, err := c.find(ctx, shard)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", exchange.ErrNobody, err)
		}
		answer, err := c.bucket.Ask(ctx, lane, shard, opening, message)
		if err == nil || errors.Is(err, errFull) {
			return answer, err
		}
		c.forget(shard)
		if !known || !errors.Is(err, nats.ErrNoResponders) {
			return nil, err
		}
	}
}

// Ask sends a message to the [Post] of a shard in an opening, and returns the answer, or [exchange.ErrNobody].
func (b *Bucket) Ask(ctx context.Context, lane string, shard int, o schema.Opening, message []byte) ([]byte, error) {
	answer, err := b.ask(ctx, b.subject(shard, o, lane), message)
	if err != nil {
		return nil, fmt.Errorf("%w: shard %d: %w", exchange.ErrNobody, shard, err)
	}
	return answer, nil
}

// AskNode sends a message to the [Post] of a node, and returns the answer, or [exchange.ErrNobody].
func (b *Bucket) AskNode(ctx context.Context, lane, node string, message []byte) ([]byte, error) {
	answer, err := b.ask(ctx, b.nodeSubject(node, lane), message)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", exchange.ErrNobody, err)
	}
	return answer, nil
}

func (b *Bucket) ask(ctx context.Context, subject string, message []byte) ([]byte, error) {
	answer, err := b.conn.nats.RequestWithContext(ctx, subject, message)
	switch {
	case err == nil && answer.Header.Get(isFull) != "":
		err = errFull
	case err == nil:
		return answer.Data, nil
	case !b.conn.nats.IsConnected():
		err = &awayError{err}
	}
	return nil, err
}

// find returns the opening of a shard, and whether it was cached.
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
		return o, false, fmt.Errorf("no node holds shard %d", shard)
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

// A Post receives the messages to a shard, each in a lane. Messages in one lane never wait for those in
// another, however many there are.
type Post struct {
	Node    string // in place of Shard and Opening: the name of a node, or of anything else that is asked by its name
	Shard   int
	Opening schema.Opening // of the shard's file
	Held    func() bool    // whether this node still holds the shard
	Lanes   map[string]int // by name: how many messages are answered at a time; further ones are refused
	// Answer answers a message that arrived in a lane; it is called concurrently. An error sends no answer.
	Answer func(ctx context.Context, lane string, message []byte) ([]byte, error)
	OnFull func(lane string) // called when the first message in a lane is refused or lost; may be nil
}

// Serve answers messages until ctx is done or the connection is closed, and returns when all are answered.
// Messages that arrive when the shard is no longer held are neither applied nor answered.
func (b *Bucket) Serve(ctx context.Context, p Post) error {
	g, ctx := errgroup.WithContext(ctx)
	for name, most := range p.Lanes {
		g.Go(func() error { return b.serve(ctx, &lane{post: &p, name: name, most: most}) })
	}
	err := g.Wait()
	if err != nil && p.Node == "" {
		err = fmt.Errorf("messages to shard %d: %w", p.Shard, err)
	}
	return err
}

func (b *Bucket) serve(ctx context.Context, l *lane) error {
	s, err := b.conn.nats.SubscribeSync(l.post.subject(b, l.name))
	if err != nil {
		return err
	}
	defer func() { _ = s.Unsubscribe() }() // fails only if the connection is closed
	if err := s.SetPendingLimits(maxWaiting, maxRoom); err != nil {
		return err
	}
	var open sync.WaitGroup
	defer open.Wait()
	for {
		m, err := s.NextMsgWithContext(ctx)
		switch {
		case errors.Is(err, nats.ErrSlowConsumer): // some were lost; the next one is available
			l.full()
		case err != nil:
			return err
		case l.enter(len(m.Data)):
			open.Go(func() {
				defer l.leave(len(m.Data))
				l.post.answer(ctx, l.name, m)
			})
		default:
			l.refuse(m)
		}
	}
}

// A lane receives the messages of one sender, or the questions of one kind. It limits their total.
type lane struct {
	post *Post
	name string
	most int
	told bool // OnFull was called

	mu         sync.Mutex
	open, size int // messages being answered, and their bytes
}

// enter admits a message, unless the lane is full; leave must follow.
func (l *lane) enter(size int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open >= l.most || l.size+size > maxRoom {
		return false
	}
	l.open, l.size = l.open+1, l.size+size
	return true
}

func (l *lane) leave(size int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open, l.size = l.open-1, l.size-size
}

// refuse tells the sender to send a message again.
func (l *lane) refuse(m *nats.Msg) {
	if !l.post.Held() {
		return
	}
	_ = m.RespondMsg(&nats.Msg{Header: nats.Header{isFull: {"1"}}}) // a sender that does not receive it retries
	l.full()
}

// full reports once that more messages arrived than the lane accepts.
func (l *lane) full() {
	if !l.told && l.post.OnFull != nil {
		l.post.OnFull(l.name)
	}
	l.told = true
}

func (p *Post) answer(ctx context.Context, lane string, m *nats.Msg) {
	if !p.Held() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, patience) // no sender waits longer
	defer cancel()
	answer, err := p.Answer(ctx, lane, m.Data)
	if err == nil && p.Held() {
		_ = m.Respond(answer) // if the answer is lost, the sender retries
	}
}
