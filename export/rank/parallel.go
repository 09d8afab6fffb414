package rank

import (
	"context"
	"runtime"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// chunk is how many nodes are processed as a unit. It is fixed, so that the number of cores never
// changes the order of a sum.
const chunk = 1 << 13

// chunks returns the number of parts into which eachChunk divides n nodes.
func chunks(n int) int { return (n + chunk - 1) / chunk }

// eachChunk calls work for each part [lo, hi) of 0..n-1, on all cores, until ctx is done.
func eachChunk(ctx context.Context, n int, work func(part, lo, hi int)) {
	eachChunkWith(ctx, toolsFor[struct{}](chunks(n)), n, func(_ *struct{}, part, lo, hi int) { work(part, lo, hi) })
}

// eachChunkWith is like eachChunk, with tools as in [share].
func eachChunkWith[T any](ctx context.Context, tools []T, n int, work func(tool *T, part, lo, hi int)) {
	share(ctx, tools, chunks(n), func(tool *T, part int) {
		work(tool, part, part*chunk, min((part+1)*chunk, n))
	})
}

// toolsFor returns a tool for each core, or for each job if there are fewer.
func toolsFor[T any](jobs int) []T { return make([]T, min(runtime.GOMAXPROCS(0), jobs)) }

// share calls work once for each job below jobs. It starts a goroutine for each tool, and only that
// goroutine uses the tool. It stops early when ctx is done; ctx may be nil.
func share[T any](ctx context.Context, tools []T, jobs int, work func(tool *T, job int)) {
	var next atomic.Int64
	var group errgroup.Group
	for i := range tools[:min(len(tools), jobs)] {
		group.Go(func() error {
			for {
				job := int(next.Add(1)) - 1
				if job >= jobs || ctx != nil && ctx.Err() != nil {
					return nil
				}
				work(&tools[i], job)
			}
		})
	}
	_ = group.Wait() // work returns no errors
}

// sum adds the values in the order of the slice.
func sum(values []float64) float64 {
	total := 0.0
	for _, v := range values {
		total += v
	}
	return total
}
