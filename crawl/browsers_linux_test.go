package crawl

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
)

// A crawl that is stopped does not wait for a browser that hangs while starting.
func TestStoppedBeforeBrowser(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "still")
	if err := os.WriteFile(path, []byte("#!/bin/sh\nexec sleep 600\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	cfg := crawltest.Parse(t, rendering(fmt.Sprintf("[render]\nmode = \"auto\"\nsandbox = false\nbrowser = %q\n", path)))
	why := errors.New("told to stop")
	ctx, stop := context.WithTimeoutCause(t.Context(), time.Second/2, why)
	defer stop()
	began := time.Now()
	if _, err := openBrowser(ctx, cfg); !errors.Is(err, why) || time.Since(began) > 20*time.Second {
		t.Errorf("after %s: %v, want %v", time.Since(began), err, why)
	}
}
