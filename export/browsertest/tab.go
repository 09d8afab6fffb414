// Package browsertest drives a browser for tests of what a page shows and does. It is independent of
// the pages under test.
package browsertest

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/cdproto/memory"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// askAgain is the interval for polling a condition. Polling on every frame would force needless
// drawing.
const askAgain = 50 * time.Millisecond

// A Tab is a tab of a browser, for one test.
type Tab struct {
	testing.TB
	Patience time.Duration // how long to wait for a condition; three minutes unless set
	ctx      context.Context
}

// shared is the browser shared by the tests of a package.
var shared struct {
	sync.Mutex
	ctx context.Context
	end context.CancelFunc // nil: not started
}

// Run runs the tests of a package with a shared browser, because starting one takes longer than most
// tests.
func Run(m *testing.M) (code int) {
	defer func() {
		if shared.end != nil {
			shared.end()
		}
	}()
	return m.Run()
}

// Open opens an empty tab with its own cookies and storage in the browser shared by the tests of a
// package. If there is no browser it skips the test, or fails it under RIPPLE_CI=1. The tab is closed
// with the test; the browser ends with [Run].
func Open(t testing.TB) *Tab {
	t.Helper()
	path := browserPath(t)
	shared.Lock()
	defer shared.Unlock()
	if shared.end == nil {
		shared.ctx, shared.end = start(path)
		if err := chromedp.Do(shared.ctx, chromedp.Navigate("about:blank")); err != nil {
			t.Fatal(err)
		}
	}
	return tab(t, shared.ctx, chromedp.WithNewBrowserContext())
}

// OpenWith opens an empty tab like [Open], but in a new browser with the given flag set.
func OpenWith(t testing.TB, flag string) *Tab {
	t.Helper()
	ctx, end := start(browserPath(t), chromedp.Flag(flag, true))
	t.Cleanup(end)
	return tab(t, ctx)
}

// start returns the context of a browser, which starts with its first tab. The profile is in a
// temporary folder outside the test's: the last of the browser's processes may still write there
// briefly after the browser ends, which would break the removal of the test's folder. Pages are told that
// their reader prefers no motion, since moving pictures take most of the time of a processor that draws them.
func start(path string, more ...chromedp.ExecAllocatorOption) (context.Context, context.CancelFunc) {
	options := []chromedp.ExecAllocatorOption{chromedp.ExecPath(path), chromedp.WindowSize(1400, 900)}
	for _, flag := range []string{"headless", "no-sandbox", "disable-gpu", "enable-unsafe-swiftshader", "disable-quic",
		"no-first-run", "disable-background-networking", "disable-component-update", "disable-sync",
		"disable-dev-shm-usage", "hide-scrollbars", "force-prefers-reduced-motion"} {
		options = append(options, chromedp.Flag(flag, true))
	}
	ctx, end := chromedp.NewExecAllocator(context.Background(), append(options, more...)...)
	ctx, cancel := chromedp.NewContext(ctx)
	return ctx, func() { cancel(); end() }
}

// tab opens an empty tab until the end of the test.
func tab(t testing.TB, browser context.Context, options ...chromedp.ContextOption) *Tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser, options...)
	t.Cleanup(cancel)
	b := &Tab{t, 3 * time.Minute, ctx}
	b.Do(chromedp.Navigate("about:blank"))
	return b
}

func browserPath(t testing.TB) string {
	t.Helper()
	if testing.Short() {
		t.Skip("a browser takes seconds")
	}
	// The shell is the same engine without windows, which take half of a processor's time.
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("RIPPLE_CI") == "1" {
		t.Fatal("no Chromium found, and RIPPLE_CI=1 asks for one")
	}
	t.Skip("no Chromium found; nothing is looked at in a browser")
	return ""
}

// NewTab opens another tab in the same browser.
func (b *Tab) NewTab() *Tab {
	b.Helper()
	opened := tab(b.TB, b.ctx)
	opened.Patience = b.Patience
	return opened
}

// In returns the same tab for a subtest.
func (b *Tab) In(t testing.TB) *Tab { return &Tab{t, b.Patience, b.ctx} }

// Do runs actions of package chromedp.
func (b *Tab) Do(steps ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.Fatal(err)
	}
}

// Go opens an address.
func (b *Tab) Go(address string) {
	b.Helper()
	b.Do(chromedp.Navigate(address))
}

// Wait returns once the expression is true. An expression that throws, for example because an element
// is missing, counts as false. If the page is being replaced, Wait polls again.
func (b *Tab) Wait(expression string) {
	b.Helper()
	holds := "(() => { try { return (" + expression + "); } catch { return false; } })()"
	for {
		_, err := chromedp.Run(b.ctx, chromedp.Poll[any](holds, chromedp.WithPollingInterval(askAgain),
			chromedp.WithPollingTimeout(b.Patience)))
		if err == nil {
			return
		}
		text := err.Error()
		if !strings.Contains(text, "context") && !strings.Contains(text, "navigated") || b.ctx.Err() != nil {
			b.Fatalf("waiting for %s: %v; the page says %.600q", expression, err,
				Ask[string](b, `document.body?.innerText ?? ""`))
		}
	}
}

// Ask returns the value of an expression. It awaits a promise.
func Ask[T any](b *Tab, expression string) T {
	b.Helper()
	value, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.Fatalf("%s: %v", expression, err)
	}
	return value
}

// Call sends a command of the browser's protocol to the tab.
func Call[P, R any](b *Tab, command cdp.Command[P, R], params P) R {
	b.Helper()
	result, err := chromedp.Call(b.ctx, command, params)
	if err != nil {
		b.Fatal(err)
	}
	return result
}

// Press sends keys, or one of the keys of package kb, to the focused element.
func (b *Tab) Press(keys string) {
	b.Helper()
	b.Do(chromedp.KeyEvent(keys))
}

// Size sets the size of the window, in pixels.
func (b *Tab) Size(width, height int64) {
	b.Helper()
	b.Do(chromedp.EmulateViewport(width, height))
}

// Text returns the visible text of an element, or "" if there is none.
func (b *Tab) Text(selector string) string {
	b.Helper()
	return Ask[string](b, "document.querySelector("+quoted(selector)+")?.innerText ?? \"\"")
}

// Screenshot returns the contents of the window as PNG.
func (b *Tab) Screenshot() []byte {
	b.Helper()
	shot, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		b.Fatal(err)
	}
	return shot
}

// Held returns what the tab's page holds after a garbage collection: bytes of JavaScript heap, and
// nodes and listeners of the document.
func (b *Tab) Held() (bytes, nodes, listeners int64) {
	b.Helper()
	Call(b, heapprofiler.CollectGarbage, cdp.Empty{})
	dom := Call(b, memory.GetDOMCounters, cdp.Empty{})
	return int64(Call(b, runtime.GetHeapUsage, cdp.Empty{}).UsedSize), dom.Nodes, dom.JsEventListeners
}
