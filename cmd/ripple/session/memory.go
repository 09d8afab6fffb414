package session

import (
	"context"
	"runtime/debug"
	"time"

	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl/gctune"
)

// MemoryEvery is how often a crawl looks whether it keeps to its limit.
const MemoryEvery = 10 * time.Second

// KeepMemory keeps the process to the limit of its configuration, also when that or what the machine gives it changes,
// until ctx is done. It says so once, and again when it was mended, if that costs much.
func (w *Walk) KeepMemory(ctx context.Context) error {
	tick := time.NewTicker(MemoryEvery)
	defer tick.Stop()
	said := false
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		m := term.CrawlMemory(w.Cfg.Load())
		if m.Bytes != debug.SetMemoryLimit(-1) {
			w.limitMemory(m)
		}
		err := m.Allows(gctune.Live())
		if err != nil && !said {
			w.Log.Warn("memory is short: up to half of the processor time goes into keeping to the limit", "error", err)
		}
		said = err != nil
	}
}
