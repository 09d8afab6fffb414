package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/dustin/go-humanize"

	"github.com/sumi-ripple/ripple/crawl/heap"
	"github.com/sumi-ripple/ripple/crawl/render"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema/config"
)

// memoryBase is how many bytes a crawl holds besides what it knows of URLs.
const memoryBase = 48_000_000

// A memory is the soft limit of what this process holds. The collector keeps to it as long as half of the processor
// time is enough for that. There is one in a process, which the command sets and nobody else.
type memory struct {
	said  string // what decides
	bytes int64  // math.MaxInt64: there is no limit
}

// newMemory returns the limit that a configuration asks for where there is so much memory; 0: nobody knows. GOMEMLIMIT
// wins, which the process has from its start.
func newMemory(limit config.MemoryLimit, here uint64) memory {
	m := memory{fmt.Sprintf("[network] memory-limit = %s", limit), int64(limit)}
	switch {
	case os.Getenv("GOMEMLIMIT") != "":
		return memory{"GOMEMLIMIT", debug.SetMemoryLimit(-1)}
	case limit == config.MemoryAuto && here > 0:
		m.bytes = int64(min(here, math.MaxInt64) / 4 * 3)
	case limit == config.MemoryAuto, limit == config.MemoryOff:
		m.bytes = math.MaxInt64
	}
	return m
}

// crawlMemory is the limit of a crawl: its browsers are processes of their own.
func crawlMemory(cfg *config.Config) memory {
	return newMemory(cfg.Network.MemoryLimit, memoryHere()).beside(&cfg.Render)
}

// beside takes off what the browsers that render pages may hold. GOMEMLIMIT is what this process may hold alone.
func (m memory) beside(r *config.Render) memory {
	if r.Mode == config.RenderOff || m.bytes == math.MaxInt64 || os.Getenv("GOMEMLIMIT") != "" {
		return m
	}
	browsers := int64(r.Browsers()) * render.MemoryLimit
	m.bytes = max(1, m.bytes-browsers)
	m.said += fmt.Sprintf(" less %s for [render] max-browsers = %d", humanize.Bytes(uint64(browsers)), r.Browsers())
	return m
}

// memoryHere is what the machine has, or less where the cgroup or the address space of this process is limited;
// 0: nobody knows.
func memoryHere() uint64 { return leastOf(memlimit.FromCgroup, memlimit.FromSystem, addressSpace) }

// leastOf returns the least that is known; 0: nothing is.
func leastOf(all ...memlimit.Provider) (least uint64) {
	for _, ask := range all {
		if n, err := ask(); err == nil && n > 0 && (least == 0 || n < least) {
			least = n
		}
	}
	return least
}

// set makes it the limit of the process, whose heap is collected by a rule.
func (m memory) set(rule heap.Rule) {
	debug.SetMemoryLimit(m.bytes)
	heap.Collect(rule)
}

// forURLs is how many bytes of it are left to what is known of URLs; 0: any number.
func (m memory) forURLs() int64 {
	if m.bytes == math.MaxInt64 {
		return 0
	}
	return max(1, m.bytes-memoryBase)
}

// ofShard is what of that is left to each of so many shards.
func (m memory) ofShard(shards int) int64 {
	if m.bytes == math.MaxInt64 {
		return 0
	}
	return max(1, m.forURLs()/int64(shards))
}

func (m memory) String() string {
	if m.bytes == math.MaxInt64 {
		return "none"
	}
	return fmt.Sprintf("%s (%s)", humanize.Bytes(uint64(m.bytes)), m.said)
}

// explain names the limit where an error of opening a state is due to it.
func (m memory) explain(err error) error {
	if !errors.Is(err, kv.ErrMemory) {
		return err
	}
	return hint(fmt.Errorf("%s, which is %s here, is too small: %w", m.said, humanize.Bytes(uint64(m.bytes)), err),
		"raise it, or crawl where there is more memory")
}

// allows reports that a crawl which holds so many bytes cannot keep to the limit.
func (m memory) allows(held uint64) error {
	if held > uint64(m.bytes)/10*9 {
		return fmt.Errorf("%s is too little: the crawl holds %s", m, humanize.Bytes(held))
	}
	return nil
}

// refuse reports that a crawl which holds what this process does cannot keep to the limit.
func (m memory) refuse() error {
	runtime.GC() // nothing is known of what is held before the first one
	if err := m.allows(heap.Live()); err != nil {
		return hint(unfollowed(err), "raise it, or have fewer browsers")
	}
	return nil
}
