package fetch

import (
	"context"

	"golang.org/x/sync/semaphore"
)

// freeBytes are had by every body. For more than that, memory for all that it may become
// is reserved at once: who has some waits for no more, so that nobody waits for ever.
const freeBytes = 1 << 20

// A Budget is the memory that large bodies may have together. One of them is always let
// in. It may be used from many goroutines.
type Budget struct {
	size  int64
	bytes *semaphore.Weighted
}

// NewBudget returns a budget of so many bytes.
func NewBudget(size int64) *Budget {
	return &Budget{size: size, bytes: semaphore.NewWeighted(size)}
}

// reserve reports whether there is memory for the whole body.
func (b *body) reserve() bool {
	if b.budget == nil || b.reserved > 0 {
		return true
	}
	share := min(b.limit, b.budget.size)
	if b.budget.bytes.TryAcquire(share) {
		b.reserved = share
	}
	return b.reserved > 0
}

// await waits for memory for the whole body.
func (b *body) await(ctx context.Context) error {
	if b.budget == nil || b.reserved > 0 {
		return nil
	}
	share := min(b.limit, b.budget.size)
	err := b.budget.bytes.Acquire(ctx, share)
	if err == nil {
		b.reserved = share
	}
	return err
}

func (b *body) giveBack() {
	if b.reserved > 0 {
		b.budget.bytes.Release(b.reserved)
		b.reserved = 0
	}
}
