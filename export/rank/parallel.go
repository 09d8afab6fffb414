package rank

import (
	"context"
	"runtime"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// chunk is how many nodes are worked on as one. It is fixed, so that the number
// of cores never changes the order of a sum.
const chunk = 1 << 13

// chunks returns into how many parts eachChunk cuts n nodes.
func chunks(n int) int { return (n + chunk - 1) / chunk }

// eachChunk calls work for each part [lo, hi) of 0..n-1, on all cores, until ctx is done.
func eachChunk(ctx context.Context, n int, work func(part, lo, hi int)) {
	share(ctx, chunks(n), func(_, part int) {
		work(part, part*chunk, min((part+1)*chunk, n))
	})
}

// workers returns how many goroutines share jobs runs.
func workers(jobs int) int { return min(runtime.GOMAXPROCS(0), jobs) }

// share calls work once for each job below jobs, on all cores; worker is below
// workers(jobs) and never runs two jobs at once. When ctx is done it ends early; nil: never.
func share(ctx context.Context, jobs int, work func(worker, job int)) {
	var next atomic.Int64
	var group errgroup.Group
	for worker := range workers(jobs) {
		group.Go(func() error {
			for {
				job := int(next.Add(1)) - 1
				if job >= jobs || ctx != nil && ctx.Err() != nil {
					return nil
				}
				work(worker, job)
			}
		})
	}
	_ = group.Wait() // no work fails
}

// sum adds up in the order of the slice.
func sum(values []float64) float64 {
	total := 0.0
	for _, v := range values {
		total += v
	}
	return total
}
