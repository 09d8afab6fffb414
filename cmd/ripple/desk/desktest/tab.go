// Package desktest looks at the desk with a browser, for tests.
package desktest

import (
	"context"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// A Tab is a browser that looks at a desk. It belongs to one test.
type Tab struct {
	*testing.T
	ctx context.Context
}

// Open starts a browser with a desk in view, at an address that holds the token, or skips
// the test where there is none (fails, under RIPPLE_CI=1). What the console says by the
// end of the test fails it: a breach of the policy is said there.
func Open(t *testing.T, address string) *Tab {
	t.Helper()
	if testing.Short() {
		t.Skip("a browser takes seconds")
	}
	options := []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(browserPath(t)), chromedp.UserDataDir(t.TempDir()), chromedp.WindowSize(1400, 900),
	}
	for _, flag := range []string{"headless", "no-sandbox", "disable-gpu", "enable-unsafe-swiftshader", "disable-quic",
		"no-first-run", "disable-background-networking", "disable-component-update", "disable-sync",
		"disable-dev-shm-usage"} {
		options = append(options, chromedp.Flag(flag, true))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	b := &Tab{t, ctx}
	b.Do(chromedp.Navigate("about:blank"))
	var heard complaints
	go heard.listen(chromedp.Console(ctx))
	t.Cleanup(func() {
		if text := heard.all(); len(text) != 0 {
			t.Errorf("the console says %q", text)
		}
	})
	b.Do(chromedp.Navigate(address))
	b.Wait(`document.querySelector("#view h1, #view form.token")`)
	return b
}

func browserPath(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("RIPPLE_CI") == "1" {
		t.Fatal("no Chromium found, and RIPPLE_CI=1 asks for one")
	}
	t.Skip("no Chromium found; the desk is not looked at in a browser")
	return ""
}

// A complaints collects what the console says.
type complaints struct {
	mu   sync.Mutex
	text []string
}

// listen collects until the browser ends. An answer that is an error is the test's own
// doing, and what the software renderer says of its speed is no complaint.
func (c *complaints) listen(said iter.Seq2[chromedp.ConsoleMessage, error]) {
	for message, err := range said {
		if err != nil {
			return
		}
		text := message.String()
		if strings.Contains(text, "GL Driver Message") || strings.Contains(text, "Failed to load resource") {
			continue
		}
		c.mu.Lock()
		c.text = append(c.text, text)
		c.mu.Unlock()
	}
}

func (c *complaints) all() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.text)
}

// Do takes steps of package chromedp.
func (b *Tab) Do(steps ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.Fatal(err)
	}
}

// Wait returns once the expression holds. A page that is just being replaced is asked
// again.
func (b *Tab) Wait(expression string) {
	b.Helper()
	for {
		_, err := chromedp.Run(b.ctx, chromedp.Poll[any](expression, chromedp.WithPollingTimeout(time.Minute)))
		if err == nil {
			return
		}
		if text := err.Error(); !strings.Contains(text, "context") && !strings.Contains(text, "navigated") {
			b.Fatalf("waiting for %s: %v; the view says %.600q", expression, text, Ask[string](b, `document.body?.innerText ?? ""`))
		}
	}
}

// Ask returns the value of an expression; a promise is waited for.
func Ask[T any](b *Tab, expression string) T {
	b.Helper()
	value, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.Fatalf("%s: %v", expression, err)
	}
	return value
}

// Visit goes to a view and waits until it shows what an expression asks for.
func (b *Tab) Visit(view, until string) {
	b.Helper()
	Ask[any](b, fmt.Sprintf("location.hash = %q, 1", "#/"+view))
	b.Wait(fmt.Sprintf("location.hash.startsWith(%q) && (%s)", "#/"+view, until))
}

// Press types keys, or one of package kb, into what has the focus.
func (b *Tab) Press(keys string) {
	b.Helper()
	b.Do(chromedp.KeyEvent(keys))
}

// Size makes the window so large, in pixels.
func (b *Tab) Size(width, height int64) {
	b.Helper()
	b.Do(chromedp.EmulateViewport(width, height))
}

// In is the same browser for a part of the test.
func (b *Tab) In(t *testing.T) *Tab { return &Tab{t, b.ctx} }

// Text is what an element shows; empty: there is none.
func (b *Tab) Text(selector string) string {
	b.Helper()
	return Ask[string](b, fmt.Sprintf(`document.querySelector(%q)?.innerText ?? ""`, selector))
}
