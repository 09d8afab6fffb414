package fetch

import (
	"context"
	"slices"
	"sync"
)

// Each body may use a share of the budget without a claim. Its size in bytes is between these.
const (
	freeBytes = 1 << 20
	leastFree = 64 << 10
)

// A Budget is the memory that large bodies may use together. It is safe for concurrent use.
//
// For more than the free share, a body claims memory for its maximum size at once. Memory that a
// slow body will hardly need is taken back, and claimed again if necessary. Older claims come
// first. If all claims that hold memory wait for more, the oldest one gets it. The budget is then
// exceeded by at most one body, and there is no deadlock.
type Budget struct {
	size int64

	mu      sync.Mutex
	held    int64
	moving  int // claims that hold memory and are not waiting for more
	claims  uint64
	waiting []*claim // oldest first
}

// A claim is one body's part of a budget. It belongs to the goroutine that reads the body.
type claim struct {
	age   uint64 // lower is older; 0: has never claimed
	held  int64
	wants int64
	ready chan struct{} // closed when held reaches wants; nil: not waiting
}

// NewBudget returns a budget of size bytes.
func NewBudget(size int64) *Budget { return &Budget{size: size} }

// free returns the number of bytes that a body may use without a claim. open is the maximum number
// of open bodies.
func (b *Budget) free(open int) int64 {
	if b == nil {
		return freeBytes
	}
	return min(max(b.size/int64(max(open, 1)), leastFree), freeBytes)
}

// try tries to extend a claim to the given number of bytes, and reports whether it succeeded.
func (b *Budget) try(c *claim, bytes int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if c.held < bytes {
		b.ask(c, bytes)
		b.withdraw(c)
	}
	return c.held >= bytes
}

// await extends a claim to the given number of bytes, when available. It fails if ctx ends.
func (b *Budget) await(ctx context.Context, c *claim, bytes int64) error {
	b.mu.Lock()
	if c.held >= bytes {
		b.mu.Unlock()
		return nil
	}
	ready := b.ask(c, bytes)
	b.mu.Unlock()
	select {
	case <-ready:
		return nil
	case <-ctx.Done():
		b.mu.Lock()
		defer b.mu.Unlock()
		b.withdraw(c)
		return context.Cause(ctx)
	}
}

// shrink reduces a claim to at most the given number of bytes.
func (b *Budget) shrink(c *claim, bytes int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if bytes >= c.held {
		return
	}
	b.held -= c.held - bytes
	if c.held = bytes; bytes == 0 {
		b.moving--
	}
	b.serve()
}

// ask queues a claim by age, and returns a channel that is closed when it is served.
func (b *Budget) ask(c *claim, bytes int64) <-chan struct{} {
	if c.age == 0 {
		b.claims++
		c.age = b.claims
	}
	if c.held > 0 {
		b.moving--
	}
	ready := make(chan struct{})
	c.wants, c.ready = bytes, ready
	at, _ := slices.BinarySearchFunc(b.waiting, c.age, func(o *claim, age uint64) int { return int(o.age) - int(age) })
	b.waiting = slices.Insert(b.waiting, at, c)
	b.serve()
	return ready
}

// withdraw removes a claim from the queue.
func (b *Budget) withdraw(c *claim) {
	if c.ready == nil {
		return
	}
	c.ready = nil
	if c.held > 0 {
		b.moving++
	}
	b.waiting = slices.DeleteFunc(b.waiting, func(o *claim) bool { return o == c })
	b.serve()
}

// serve serves the oldest claims while memory is available.
func (b *Budget) serve() {
	for len(b.waiting) > 0 {
		c := b.waiting[0]
		if b.held-c.held+c.wants > b.size && b.moving > 0 {
			return
		}
		b.waiting = slices.Delete(b.waiting, 0, 1)
		b.held += c.wants - c.held
		b.moving++
		c.held = c.wants
		close(c.ready)
		c.ready = nil
	}
}

// reserve reports whether the whole body could get memory.
func (b *body) reserve() bool { return b.budget == nil || b.budget.try(&b.claim, b.limit) }

// await waits for memory for the whole body.
func (b *body) await(ctx context.Context) error {
	if b.budget == nil {
		return nil
	}
	return b.budget.await(ctx, &b.claim, b.limit)
}

// mayGrow reports whether there is memory for another chunk.
func (b *body) mayGrow() bool {
	size := b.chunks.size + chunkBytes
	return b.budget == nil || size <= b.free || b.claim.held >= min(b.limit, size)
}

func (b *body) giveBack() {
	if b.budget != nil {
		b.budget.shrink(&b.claim, 0)
	}
}

// Reserve waits for memory for a body of the given size that does not come from a server. free
// gives it back. If ctx ends, Reserve fails and reserves nothing.
func (c *Client) Reserve(ctx context.Context, size int64) (free func(), err error) {
	if c.budget == nil || size <= c.free {
		return func() {}, nil
	}
	of := new(claim)
	free = func() { c.budget.shrink(of, 0) }
	if err := c.budget.await(ctx, of, size); err != nil {
		free() // the claim may just have been served
		return func() {}, err
	}
	return free, nil
}
