package gctune_test

import (
	"math"
	"runtime"
	"runtime/debug"
	gauges "runtime/metrics"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl/gctune"
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

// due reports whether the next collection is at about want bytes, within an eighth.
func due(want uint64) bool {
	goal := gauge("/gc/heap/goal:bytes")
	return goal > want-want/8 && goal < want+want/8
}

// eventually waits until a condition holds after some collections, each of which may find another heap.
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
		what, gctune.Live(), gogc(), gauge("/gc/heap/goal:bytes"))
}

// begin removes the memory limit and GOGC, and restores them afterwards.
func begin(t *testing.T) {
	t.Helper()
	t.Setenv("GOGC", "")
	limit, was := debug.SetMemoryLimit(math.MaxInt64), int(gogc())
	t.Cleanup(func() { debug.SetMemoryLimit(limit); debug.SetGCPercent(was) })
}

// TestCollect follows a heap that grows and shrinks: a small one is collected at a minimum size, a large one
// when it has grown by a percentage. The next rule ends this.
func TestCollect(t *testing.T) {
	begin(t)
	held := make([]byte, least/2)
	gctune.Collect(gctune.Rule{Percent: percent, Least: bytes(least)})
	for range 2 {
		eventually(t, "a small heap", func() bool { return gctune.Live() < 3*least/4 && due(least) })
		more := make([]byte, 2*least)
		eventually(t, "a large heap", func() bool { return gogc() == percent && due(gctune.Live()*(100+percent)/100) })
		runtime.KeepAlive(more)
	}
	eventually(t, "a small heap", func() bool { return gogc() > percent })
	gctune.Collect(gctune.Rule{Percent: percent})
	for range 20 {
		runtime.GC()
		time.Sleep(5 * time.Millisecond)
		if got := gogc(); got != percent {
			t.Fatalf("by percent alone: GOGC is %d", got)
		}
	}
	runtime.KeepAlive(held)
}

// TestCollectTiny has a heap far below the minimum: if it grows suddenly, it is collected before it is
// hundreds of times as large.
func TestCollectTiny(t *testing.T) {
	begin(t)
	gctune.Collect(gctune.Rule{Percent: percent, Least: bytes(1 << 40)})
	eventually(t, "a tiny heap", func() bool { return gogc() == 400 })
}

// TestCollectAtTheLimit has a memory limit below the minimum: the limit applies.
func TestCollectAtTheLimit(t *testing.T) {
	begin(t)
	held := make([]byte, 64<<20)
	gctune.Collect(gctune.Rule{Percent: percent, Least: bytes(256 << 20)})
	eventually(t, "without a limit", func() bool { return due(256 << 20) })
	debug.SetMemoryLimit(128 << 20)
	eventually(t, "with one", func() bool { return gauge("/gc/heap/goal:bytes") <= 128<<20 })
	runtime.KeepAlive(held)
}

// TestCollectGrowth limits the growth of a large heap, while a small one grows by its percentage.
func TestCollectGrowth(t *testing.T) {
	begin(t)
	gctune.Collect(gctune.Rule{Percent: percent, Most: 8 << 20})
	eventually(t, "a small heap", func() bool { return gogc() == percent })
	held := make([]byte, 160<<20)
	eventually(t, "a large heap", func() bool {
		grows := gauge("/gc/heap/goal:bytes") - gctune.Live()
		return grows > 4<<20 && grows < 12<<20
	})
	runtime.KeepAlive(held)
}

// TestCollectCrawls starts more crawls in the process: the minimum rises.
func TestCollectCrawls(t *testing.T) {
	begin(t)
	held, crawls := make([]byte, 32<<20), atomic.Int32{}
	gctune.Collect(gctune.Crawl(func() int { return int(crawls.Load()) }))
	eventually(t, "one crawl", func() bool { return due(80 << 20) })
	crawls.Store(4)
	eventually(t, "four crawls", func() bool { return due(140 << 20) })
	runtime.KeepAlive(held)
}

// TestCollectOfEnvironment leaves a GOGC from the environment alone.
func TestCollectOfEnvironment(t *testing.T) {
	begin(t)
	gctune.Collect(gctune.Rule{Percent: percent})
	t.Setenv("GOGC", "80")
	gctune.Collect(gctune.Rule{Percent: 10, Least: bytes(least)})
	if got := gogc(); got != percent {
		t.Errorf("GOGC is %d, want %d", got, percent)
	}
}
