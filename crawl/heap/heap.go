// Package heap says how far the heap of this process may grow before it is collected.
package heap

import (
	"os"
	"runtime"
	"runtime/debug"
	gauges "runtime/metrics"
)

// A Rule says how far a heap may grow before it is collected.
type Rule struct {
	Percent int           // of what the last collection left of it
	Least   func() uint64 // bytes; but it is not collected before it has about so many; nil: always
	Most    uint64        // bytes; but it never grows by more; 0: any number
}

// Read is the rule of who asks a state. What a large one holds is mostly tables without pointers,
// which cost a collection nothing.
func Read() Rule { return Rule{Percent: 45} }

// Crawl is the rule of so many crawls in one process: like that of who asks, but many collections
// of a small heap cost more than few of a larger one.
func Crawl(crawls func() int) Rule {
	least := func() uint64 { return 80<<20 + uint64(max(0, crawls()-1))*20<<20 }
	return Rule{Percent: 45, Least: least}
}

// Export is the rule of an export: most of what it holds are arrays without pointers, those of the
// metrics, and what it promises is how much it holds.
func Export() Rule { return Rule{Percent: 15, Most: 64 << 20} }

// mostPercent bounds by how much a heap may grow that is far below the least: what was left of it
// is known only after a collection, and may be many times as much as before.
const mostPercent = 400

// Collect has the heap collected by a rule. A limit of memory ([debug.SetMemoryLimit]) is kept all
// the same, and the environment variable GOGC wins. The last call counts.
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

// Live returns what the last collection left of the heap, in bytes; 0: there was none.
func Live() uint64 { return read("/gc/heap/live:bytes") }

func read(gauge string) uint64 {
	s := []gauges.Sample{{Name: gauge}}
	gauges.Read(s)
	return s[0].Value.Uint64()
}

// A collector says when the next collection is due, after each.
type collector struct {
	rule Rule
	now  int // the percent that it has set
}

// wanted is the percent by which the heap may grow now: of what a collection looks at, which is
// what it leaves, stacks and global variables.
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
