// Package heap says how far the heap of this process may grow before it is collected.
package heap

import (
	"os"
	"runtime"
	"runtime/debug"
	gauges "runtime/metrics"
)

// How far the heap of a crawl may grow, see [Collect]. What a large one holds is mostly tables
// without pointers, which cost a collection nothing.
const (
	CrawlPercent = 45
	CrawlLeast   = 80 << 20
)

// mostPercent bounds by how much a heap may grow that is far below the least: what was left of it
// is known only after a collection, and may be many times as much as before.
const mostPercent = 400

// Collect has the heap collected when it has grown by so many percent of what the last
// collection left of it, but not before it has about least bytes: many collections of a small
// heap cost more than few of a larger one. A limit of memory ([debug.SetMemoryLimit]) is kept all
// the same, and the environment variable GOGC wins. The last call counts.
func Collect(percent int, least uint64) {
	if os.Getenv("GOGC") != "" {
		return
	}
	c := &collector{percent: percent, least: least}
	c.now = c.wanted()
	debug.SetGCPercent(c.now)
	if least > 0 {
		c.watch()
	}
}

// Live returns what the last collection left of the heap, in bytes; 0: there was none.
func Live() uint64 { return read("/gc/heap/live:bytes") }

func read(gauge string) uint64 {
	s := []gauges.Sample{{Name: gauge}}
	gauges.Read(s)
	return s[0].Value.Uint64()
}

// A collector says when the next collection is due, after each.
type collector struct {
	percent int
	least   uint64
	now     int // the percent that it has set
}

// wanted is the percent by which the heap may grow now: of what a collection looks at, which is
// what it leaves, stacks and global variables.
func (c *collector) wanted() int {
	live := Live()
	if live >= c.least {
		return c.percent
	}
	of := live + read("/gc/scan/stack:bytes") + read("/gc/scan/globals:bytes")
	return max(c.percent, int(min((c.least-live)*100/max(of, 1), mostPercent)))
}

// watch has the next collection tell of itself, which finds that nobody holds a mark. It ends
// when somebody else has set a percent.
func (c *collector) watch() {
	type mark struct{ _ *collector } // with a pointer: what has none may share its memory with others
	runtime.AddCleanup(new(mark), func(c *collector) {
		if c.follow() {
			c.watch()
		}
	}, c)
}

// follow sets what is wanted now, and reports whether it is still this collector that says so.
func (c *collector) follow() bool {
	wanted := c.wanted()
	if int(read("/gc/gogc:percent")) != c.now {
		return false
	}
	if before := debug.SetGCPercent(wanted); before != c.now {
		debug.SetGCPercent(before)
		return false
	}
	c.now = wanted
	return true
}
