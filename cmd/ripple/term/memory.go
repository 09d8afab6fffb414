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

	"github.com/sumi-ripple/ripple/crawl/gctune"
	"github.com/sumi-ripple/ripple/crawl/render"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema/config"
)

// memoryBase is what a crawl holds in bytes, apart from what it knows about URLs.
const memoryBase = 48_000_000

// A Memory is the soft memory limit of this process. The garbage collector keeps to it as long as half of the processor
// time is enough for that. A process has one, and only its command sets it.
type Memory struct {
	said  string // what decides
	Bytes int64  // math.MaxInt64: there is no limit
}

// NewMemory returns the limit that a configuration asks for on a machine with here bytes; 0 means unknown. GOMEMLIMIT
// takes precedence; the Go runtime reads it at the start of the process.
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

// CrawlMemory returns the limit of a crawl. Its browsers are separate processes, so their share is taken off.
func CrawlMemory(cfg *config.Config) Memory {
	return NewMemory(cfg.Network.MemoryLimit, MemoryHere()).LessBrowsers(&cfg.Render)
}

// LessBrowsers returns the limit minus the memory that the rendering browsers may use. A limit set by GOMEMLIMIT covers
// this process only, so it is returned unchanged.
func (m Memory) LessBrowsers(r *config.Render) Memory {
	if r.Mode == config.RenderOff || m.Bytes == math.MaxInt64 || os.Getenv("GOMEMLIMIT") != "" {
		return m
	}
	browsers := int64(r.Browsers()) * render.MemoryLimit
	m.Bytes = max(1, m.Bytes-browsers)
	m.said += fmt.Sprintf(" less %s for [render] max-browsers = %d", humanize.Bytes(uint64(browsers)), r.Browsers())
	return m
}

// MemoryHere returns the memory of the machine, or less if the cgroup or the address space of this process is limited.
// 0 means unknown.
func MemoryHere() uint64 { return leastOf(memlimit.FromCgroup, memlimit.FromSystem, addressSpace) }

// leastOf returns the smallest known value; 0 means that none is known.
func leastOf(all ...memlimit.Provider) (least uint64) {
	for _, ask := range all {
		if n, err := ask(); err == nil && n > 0 && (least == 0 || n < least) {
			least = n
		}
	}
	return least
}

// Set makes m the limit of the process, and rule the rule by which its heap is collected.
func (m Memory) Set(rule gctune.Rule) {
	debug.SetMemoryLimit(m.Bytes)
	gctune.Collect(rule)
}

// ForURLs returns how many bytes are left for what is known about URLs; 0 means no limit.
func (m Memory) ForURLs() int64 {
	if m.Bytes == math.MaxInt64 {
		return 0
	}
	return max(1, m.Bytes-memoryBase)
}

// OfShard returns the share of ForURLs for each of several shards; 0 means no limit.
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

// Explain names the limit in an error that it caused while a state file was opened.
func (m Memory) Explain(err error) error {
	if !errors.Is(err, kv.ErrMemory) {
		return err
	}
	return Hint(fmt.Errorf("%s, which is %s here, is too small: %w", m.said, humanize.Bytes(uint64(m.Bytes)), err),
		"raise it, or crawl where there is more memory")
}

// Allows returns an error if a crawl that holds this many bytes cannot keep to the limit.
func (m Memory) Allows(held uint64) error {
	if held > uint64(m.Bytes)/10*9 {
		return fmt.Errorf("%s is too little: the crawl holds %s", m, humanize.Bytes(held))
	}
	return nil
}

// Refuse returns an error if a crawl that holds as much as this process cannot keep to the limit.
func (m Memory) Refuse() error {
	runtime.GC() // nothing is known of what is held before the first one
	if err := m.Allows(gctune.Live()); err != nil {
		return Hint(WrongConfig(err), "raise it, or have fewer browsers")
	}
	return nil
}
