package heap_test

import (
	"math"
	"runtime"
	"runtime/debug"
	gauges "runtime/metrics"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl/heap"
)

const (
	percent = 45
	least   = 16 << 20
)

func bytes(n uint64) func() uint64 { return func() uint64 { return n } }

// gauge reads a figure of the collector.
func gauge(name string) uint64 {
	s := []gauges.Sample{{Name: name}}
	gauges.Read(s)
	return s[0].Value.Uint64()
}

func gogc() uint64 { return gauge("/gc/gogc:percent") }

// due reports whether the heap is collected when it has so many bytes, give or take an eighth.
func due(want uint64) bool {
	goal := gauge("/gc/heap/goal:bytes")
	return goal > want-want/8 && goal < want+want/8
}

// eventually waits until collections, each of which may find another heap, have led to something.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for range 1000 {
		runtime.GC()
		if is() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Errorf("%s: the heap has %d bytes, GOGC is %d, and it is collected at %d",
		what, heap.Live(), gogc(), gauge("/gc/heap/goal:bytes"))
}

// begin has neither a limit nor GOGC, and puts back what was.
func begin(t *testing.T) {
	t.Helper()
	t.Setenv("GOGC", "")
	limit, was := debug.SetMemoryLimit(math.MaxInt64), int(gogc())
	t.Cleanup(func() { debug.SetMemoryLimit(limit); debug.SetGCPercent(was) })
}

// TestCollect follows a heap that grows and shrinks: a small one is collected when it has so many
// bytes, a large one when it has grown by so many percent. What is said next ends that.
func TestCollect(t *testing.T) {
	begin(t)
	held := make([]byte, least/2)
	heap.Collect(heap.Rule{Percent: percent, Least: bytes(least)})
	for range 2 {
		eventually(t, "a small heap", func() bool { return heap.Live() < 3*least/4 && due(least) })
		more := make([]byte, 2*least)
		eventually(t, "a large heap", func() bool { return gogc() == percent && due(heap.Live()*(100+percent)/100) })
		runtime.KeepAlive(more)
	}
	eventually(t, "a small heap", func() bool { return gogc() > percent })
	heap.Collect(heap.Rule{Percent: percent})
	for range 20 {
		runtime.GC()
		time.Sleep(5 * time.Millisecond)
		if got := gogc(); got != percent {
			t.Fatalf("by percent alone: GOGC is %d", got)
		}
	}
	runtime.KeepAlive(held)
}

// TestCollectTiny has a heap far below what is allowed: if it grows suddenly, it is not some
// hundred times as large before it is collected.
func TestCollectTiny(t *testing.T) {
	begin(t)
	heap.Collect(heap.Rule{Percent: percent, Least: bytes(1 << 40)})
	eventually(t, "a tiny heap", func() bool { return gogc() == 400 })
}

// TestCollectAtTheLimit has a limit of memory below which the heap need not be collected: it is.
func TestCollectAtTheLimit(t *testing.T) {
	begin(t)
	held := make([]byte, 64<<20)
	heap.Collect(heap.Rule{Percent: percent, Least: bytes(256 << 20)})
	eventually(t, "without a limit", func() bool { return due(256 << 20) })
	debug.SetMemoryLimit(128 << 20)
	eventually(t, "with one", func() bool { return gauge("/gc/heap/goal:bytes") <= 128<<20 })
	runtime.KeepAlive(held)
}

// TestCollectGrowth bounds by how much a large heap grows, while a small one grows by its percent.
func TestCollectGrowth(t *testing.T) {
	begin(t)
	heap.Collect(heap.Rule{Percent: percent, Most: 8 << 20})
	eventually(t, "a small heap", func() bool { return gogc() == percent })
	held := make([]byte, 160<<20)
	eventually(t, "a large heap", func() bool {
		grows := gauge("/gc/heap/goal:bytes") - heap.Live()
		return grows > 4<<20 && grows < 12<<20
	})
	runtime.KeepAlive(held)
}

// TestCollectCrawls has more crawls begin in the process: the heap need not be collected as early.
func TestCollectCrawls(t *testing.T) {
	begin(t)
	held, crawls := make([]byte, 32<<20), atomic.Int32{}
	heap.Collect(heap.Crawl(func() int { return int(crawls.Load()) }))
	eventually(t, "one crawl", func() bool { return due(80 << 20) })
	crawls.Store(4)
	eventually(t, "four crawls", func() bool { return due(140 << 20) })
	runtime.KeepAlive(held)
}

// TestCollectOfEnvironment leaves alone what the process was started with.
func TestCollectOfEnvironment(t *testing.T) {
	begin(t)
	heap.Collect(heap.Rule{Percent: percent})
	t.Setenv("GOGC", "80")
	heap.Collect(heap.Rule{Percent: 10, Least: bytes(least)})
	if got := gogc(); got != percent {
		t.Errorf("GOGC is %d, want %d", got, percent)
	}
}
