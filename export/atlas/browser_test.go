package atlas

import (
	"bytes"
	"context"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// browse starts a browser with flags more, or skips the test where there is none
// (fails, under RIPPLE_CI=1).
func browse(t testing.TB, more ...chromedp.ExecAllocatorOption) context.Context {
	t.Helper()
	if testing.Short() {
		t.Skip("a browser takes seconds")
	}
	options := append([]chromedp.ExecAllocatorOption{
		chromedp.ExecPath(browserPath(t)), chromedp.UserDataDir(t.TempDir()), chromedp.WindowSize(1280, 940),
	}, more...)
	for _, flag := range []string{"headless", "no-sandbox", "disable-gpu", "enable-unsafe-swiftshader", "disable-quic",
		"no-first-run",
		"disable-background-networking", "disable-component-update", "disable-sync", "disable-dev-shm-usage",
		"hide-scrollbars"} {
		options = append(options, chromedp.Flag(flag, true))
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	return ctx
}

func browserPath(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("RIPPLE_CI") == "1" {
		t.Fatal("no Chromium found, and RIPPLE_CI=1 asks for one")
	}
	t.Skip("no Chromium found; the map is not looked at in a browser")
	return ""
}

// A complaints collects what the console says.
type complaints struct {
	mu   sync.Mutex
	text []string
}

// listen collects until the browser ends. What the software renderer says of its
// own speed is no complaint.
func (c *complaints) listen(said iter.Seq2[chromedp.ConsoleMessage, error]) {
	for message, err := range said {
		if err != nil {
			return
		}
		if text := message.String(); !strings.Contains(text, "GL Driver Message") {
			c.mu.Lock()
			c.text = append(c.text, text)
			c.mu.Unlock()
		}
	}
}

func (c *complaints) all() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.text)
}

// visit opens a map from disk and waits for its first picture.
func visit(t testing.TB, ctx context.Context, m Map) string {
	t.Helper()
	var file bytes.Buffer
	if err := Write(&file, m); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "map.html")
	if err := os.WriteFile(path, file.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	do(t, ctx, chromedp.Navigate("file://"+path))
	wait(t, ctx, `document.documentElement.dataset.drawn`)
	return path
}

func do(t testing.TB, ctx context.Context, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(ctx, steps...); err != nil {
		t.Fatal(err)
	}
}

// wait returns once the expression holds. A page that is just being replaced is
// asked again.
func wait(t testing.TB, ctx context.Context, expression string) {
	t.Helper()
	for {
		_, err := chromedp.Run(ctx, chromedp.Poll[any](expression, chromedp.WithPollingTimeout(20*time.Second)))
		if err == nil {
			return
		}
		if !strings.Contains(err.Error(), "Cannot find context") {
			t.Fatalf("waiting for %s: %v", expression, err)
		}
	}
}

// ask returns the value of an expression.
func ask[T any](t testing.TB, ctx context.Context, expression string) T {
	t.Helper()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return value
}

// sample is a finished map of about n nodes.
func sample(n int) Map {
	nodes, edges := terrain(n, 1)
	return Map{Title: "Small web of letters", Level: "host", Run: "3", Status: "complete", Nodes: nodes, Edges: edges,
		Points: Layout(len(nodes), edges, Radii(nodes), 1, nil)}
}
