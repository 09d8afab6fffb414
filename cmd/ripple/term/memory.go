package term

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

// MemoryBase is how many bytes a crawl holds besides what it knows of URLs.
const MemoryBase = 48_000_000

// A Memory is the soft limit of what this process holds. The collector keeps to it as long as half of the processor
// time is enough for that. There is one in a process, which the command sets and nobody else.
type Memory struct {
	said  string // what decides
	Bytes int64  // math.MaxInt64: there is no limit
}

// NewMemory returns the limit that a configuration asks for where there is so much memory; 0: nobody knows. GOMEMLIMIT
// wins, which the process has from its start.
func NewMemory(limit config.MemoryLimit, here uint64) Memory {
	m := Memory{fmt.Sprintf("[network] memory-limit = %s", limit), int64(limit)}
	switch {
	case os.Getenv("GOMEMLIMIT") != "":
		return Memory{"GOMEMLIMIT", debug.SetMemoryLimit(-1)}
	case limit == config.MemoryAuto && here > 0:
		m.Bytes = int64(min(here, math.MaxInt64) / 4 * 3)
	case limit == config.MemoryAuto, limit == config.MemoryOff:
		m.Bytes = math.MaxInt64
	}
	return m
}

// CrawlMemory is the limit of a crawl: its browsers are processes of their own.
func CrawlMemory(cfg *config.Config) Memory {
	return NewMemory(cfg.Network.MemoryLimit, MemoryHere()).Beside(&cfg.Render)
}

// Beside takes off what the browsers that render pages may hold. GOMEMLIMIT is what this process may hold alone.
func (m Memory) Beside(r *config.Render) Memory {
	if r.Mode == config.RenderOff || m.Bytes == math.MaxInt64 || os.Getenv("GOMEMLIMIT") != "" {
		return m
	}
	browsers := int64(r.Browsers()) * render.MemoryLimit
	m.Bytes = max(1, m.Bytes-browsers)
	m.said += fmt.Sprintf(" less %s for [render] max-browsers = %d", humanize.Bytes(uint64(browsers)), r.Browsers())
	return m
}

// MemoryHere is what the machine has, or less where the cgroup or the address space of this process is limited;
// 0: nobody knows.
func MemoryHere() uint64 { return LeastOf(memlimit.FromCgroup, memlimit.FromSystem, addressSpace) }

// LeastOf returns the least that is known; 0: nothing is.
func LeastOf(all ...memlimit.Provider) (least uint64) {
	for _, ask := range all {
		if n, err := ask(); err == nil && n > 0 && (least == 0 || n < least) {
			least = n
		}
	}
	return least
}

// Set makes it the limit of the process, whose heap is collected by a rule.
func (m Memory) Set(rule heap.Rule) {
	debug.SetMemoryLimit(m.Bytes)
	heap.Collect(rule)
}

// ForURLs is how many bytes of it are left to what is known of URLs; 0: any number.
func (m Memory) ForURLs() int64 {
	if m.Bytes == math.MaxInt64 {
		return 0
	}
	return max(1, m.Bytes-MemoryBase)
}

// OfShard is what of that is left to each of so many shards.
func (m Memory) OfShard(shards int) int64 {
	if m.Bytes == math.MaxInt64 {
		return 0
	}
	return max(1, m.ForURLs()/int64(shards))
}

func (m Memory) String() string {
	if m.Bytes == math.MaxInt64 {
		return "none"
	}
	return fmt.Sprintf("%s (%s)", humanize.Bytes(uint64(m.Bytes)), m.said)
}

// Explain names the limit where an error of opening a state is due to it.
func (m Memory) Explain(err error) error {
	if !errors.Is(err, kv.ErrMemory) {
		return err
	}
	return Hint(fmt.Errorf("%s, which is %s here, is too small: %w", m.said, humanize.Bytes(uint64(m.Bytes)), err),
		"raise it, or crawl where there is more memory")
}

// Allows reports that a crawl which holds so many bytes cannot keep to the limit.
func (m Memory) Allows(held uint64) error {
	if held > uint64(m.Bytes)/10*9 {
		return fmt.Errorf("%s is too little: the crawl holds %s", m, humanize.Bytes(held))
	}
	return nil
}

// Refuse reports that a crawl which holds what this process does cannot keep to the limit.
func (m Memory) Refuse() error {
	runtime.GC() // nothing is known of what is held before the first one
	if err := m.Allows(heap.Live()); err != nil {
		return Hint(Unfollowed(err), "raise it, or have fewer browsers")
	}
	return nil
}
