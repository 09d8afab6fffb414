// Package gctune controls how far the heap of this process may grow before a garbage collection.
package gctune

import (
	"os"
	"runtime"
	"runtime/debug"
	gauges "runtime/metrics"
)

// A Rule says how far a heap may grow before it is collected.
type Rule struct {
	Percent int           // growth relative to what the last collection left
	Least   func() uint64 // bytes; no collection while the heap is smaller, approximately; nil: no minimum
	Most    uint64        // bytes; limit of the growth; 0: none
}

// Read is the rule for reading a state. A large state consists mostly of tables without pointers, which cost
// a collection nothing.
func Read() Rule { return Rule{Percent: 45} }

// Crawl is the rule for a number of crawls in one process. It is like Read, but with a minimum: many
// collections of a small heap cost more than few of a larger one.
func Crawl(crawls func() int) Rule {
	least := func() uint64 { return 80<<20 + uint64(max(0, crawls()-1))*20<<20 }
	return Rule{Percent: 45, Least: least}
}

// Export is the rule for an export. Most of its memory is the pointer-free arrays of the metrics, and its
// memory use is part of its contract.
func Export() Rule { return Rule{Percent: 15, Most: 64 << 20} }

// mostPercent limits the growth of a heap far below the minimum: how much is live is known only after a
// collection, and may be many times as much as before.
const mostPercent = 400

// Collect applies a rule. A memory limit ([debug.SetMemoryLimit]) still applies, and the environment variable
// GOGC takes precedence. The last call counts.
func Collect(r Rule) {
	if os.Getenv("GOGC") != "" {
		return
	}
	c := &collector{rule: r}
	c.now = c.wanted()
	debug.SetGCPercent(c.now)
	if r.Least != nil || r.Most > 0 {
		c.watch()
	}
}

// Live returns how much the last collection left of the heap, in bytes; 0: there was none.
func Live() uint64 { return read("/gc/heap/live:bytes") }

func read(gauge string) uint64 {
	s := []gauges.Sample{{Name: gauge}}
	gauges.Read(s)
	return s[0].Value.Uint64()
}

// A collector recomputes the percentage after each collection.
type collector struct {
	rule Rule
	now  int // the percentage it has set
}

// wanted returns the percentage by which the heap may grow now. It is relative to what a collection scans:
// the live heap, stacks and global variables.
func (c *collector) wanted() int {
	live, percent := Live(), uint64(c.rule.Percent)
	of := max(1, live+read("/gc/scan/stack:bytes")+read("/gc/scan/globals:bytes"))
	if c.rule.Least != nil {
		least := max(live, c.rule.Least())
		percent = max(percent, min((least-live)*100/of, mostPercent))
	}
	if c.rule.Most > 0 {
		percent = min(percent, max(1, c.rule.Most*100/of))
	}
	return int(percent)
}

// watch calls follow after the next collection, which finds an unreferenced mark. It ends when another caller
// has set a percentage.
func (c *collector) watch() {
	type mark struct{ _ *collector } // with a pointer, because pointer-free objects may share their memory with others
	runtime.AddCleanup(new(mark), func(c *collector) {
		if c.follow() {
			c.watch()
		}
	}, c)
}

// follow updates the percentage, and reports whether it is still this collector that sets it.
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
