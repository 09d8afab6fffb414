package fetch

import (
	"context"
	"slices"
	"sync"
)

// What every body may have without asking is its share of the budget, in bytes, between these.
const (
	freeBytes = 1 << 20
	leastFree = 64 << 10
)

// A Budget is the memory that large bodies may have together. It may be used from many goroutines.
//
// For what is more than free, a body claims memory for all that it may become, at once; what a slow one will hardly
// need is taken back, and claimed again if it does. Older claims come first, and where all that hold some wait for
// more, the oldest one gets it: then there is more than the budget in use, by what one body may become, and nobody
// waits for ever.
type Budget struct {
	size int64

	mu      sync.Mutex
	held    int64
	moving  int // claims that hold some, and wait for no more
	claims  uint64
	waiting []*claim // the oldest first
}

// A claim is what one body has of a budget. It belongs to who reads the body.
type claim struct {
	age   uint64 // the lower, the older; 0: never asked
	held  int64
	wants int64
	ready chan struct{} // closed when held is what it wants; nil: it does not wait
}

// NewBudget returns a budget of so many bytes.
func NewBudget(size int64) *Budget { return &Budget{size: size} }

// free is what every body may have without a claim, where so many may be open.
func (b *Budget) free(open int) int64 {
	if b == nil {
		return freeBytes
	}
	return min(max(b.size/int64(max(open, 1)), leastFree), freeBytes)
}

// try reports whether a claim was extended to so many bytes at once.
func (b *Budget) try(c *claim, bytes int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if c.held < bytes {
		b.ask(c, bytes)
		b.withdraw(c)
	}
	return c.held >= bytes
}

// await extends a claim to so many bytes, as soon as there are as many. It errs when ctx ends.
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

// shrink leaves so many bytes to a claim at most.
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

// ask has a claim wait among the others, by age, and returns what tells it that it need not.
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

// withdraw has a claim wait no longer.
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

// serve gives the oldest what they want, for as long as there is something to give.
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

// reserve reports whether there is memory for the whole body.
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

// Reserve waits for memory for a body of so many bytes that does not come from a server; free gives
// it back. It errs when ctx ends, and has reserved nothing then.
func (c *Client) Reserve(ctx context.Context, size int64) (free func(), err error) {
	if c.budget == nil || size <= c.free {
		return func() {}, nil
	}
	of := new(claim)
	free = func() { c.budget.shrink(of, 0) }
	if err := c.budget.await(ctx, of, size); err != nil {
		free() // what may have come just then
		return func() {}, err
	}
	return free, nil
}
