package session

import (
	"context"
	"runtime/debug"
	"time"

	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl/gctune"
)

// memoryEvery is the time between two checks of the memory limit.
const memoryEvery = 10 * time.Second

// keepMemory applies the memory limit of the configuration until ctx is done, and updates it when the configuration or
// the memory of the machine changes. It warns when garbage collection under the limit takes much processor time, once
// per episode.
func (w *walk) keepMemory(ctx context.Context) error {
	tick := time.NewTicker(memoryEvery)
	defer tick.Stop()
	said := false
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		m := term.CrawlMemory(w.cfg.Load())
		if m.Bytes != debug.SetMemoryLimit(-1) {
			w.limitMemory(m)
		}
		err := m.Allows(gctune.Live())
		if err != nil && !said {
			w.log.Warn("memory is short: up to half of the processor time goes into keeping to the limit", "error", err)
		}
		said = err != nil
	}
}
