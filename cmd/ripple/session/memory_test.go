package session

import (
	"bytes"
	"context"
	"math"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/schema/config"
)

// A crawl that no longer fits its limit reports that once, and observes the next limit.
func TestKeepMemory(t *testing.T) {
	t.Setenv("GOMEMLIMIT", "")
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	held := make([]byte, 100_000_000)
	runtime.GC()
	synctest.Test(t, func(t *testing.T) {
		var told bytes.Buffer
		w := newWalk(term.NewVoice(&told), "", &config.Config{
			Network: config.Network{MemoryLimit: 80_000_000}, Render: config.Render{Mode: config.RenderOff},
		})
		ctx, cancel := context.WithCancel(t.Context())
		go func() { _ = w.keepMemory(ctx) }()
		time.Sleep(5 * memoryEvery)
		synctest.Wait()
		if n := strings.Count(told.String(), "memory is short"); n != 1 || debug.SetMemoryLimit(-1) != 80_000_000 {
			t.Errorf("said %d times, want 1; the limit is %d:\n%s", n, debug.SetMemoryLimit(-1), told.String())
		}
		w.cfg.Store(&config.Config{Network: config.Network{MemoryLimit: config.MemoryOff}})
		time.Sleep(memoryEvery)
		synctest.Wait()
		if got := debug.SetMemoryLimit(-1); got != math.MaxInt64 {
			t.Errorf("the limit is still %d", got)
		}
		cancel()
	})
	runtime.KeepAlive(held)
}
