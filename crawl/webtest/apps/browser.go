package apps

import (
	"context"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/sumi-ripple/ripple/crawl/webtest"
)

// A Browser is Chromium as chromedp starts it, with the web as its network.
type Browser struct {
	PID int // of its first process
	ctx context.Context
}

// OpenBrowser starts a browser, which ends with the test. It skips the test if there is none.
func OpenBrowser(t testing.TB, web *webtest.Server, modify func(*exec.Cmd)) *Browser {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil && os.Getenv("RIPPLE_CI") != "1" {
		t.Skip("no Chromium found; no application is displayed")
	}
	if err != nil {
		t.Fatal(err)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path),
		chromedp.Flag("no-sandbox", os.Getuid() == 0), chromedp.Flag("ignore-certificate-errors", true),
		chromedp.Flag("host-resolver-rules", "MAP * "+web.Addr()), chromedp.ModifyCmdFunc(modify))
	all, end := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(end)
	ctx, end := chromedp.NewContext(all)
	t.Cleanup(end)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	return &Browser{chromedp.FromContext(ctx).Browser.Process().Pid, ctx}
}

// Links displays a page in a tab of its own until the network has been idle for half a second, and the document as
// long as settle. It returns the targets of links to other pages, without fragments.
func (b *Browser) Links(t testing.TB, url string, settle time.Duration) []string {
	t.Helper()
	ctx, end := context.WithTimeout(b.ctx, 2*time.Minute)
	defer end()
	tab, end := chromedp.NewContext(ctx)
	defer end()
	if err := chromedp.Do(tab); err != nil {
		t.Fatal(err)
	}
	idle := make(chan cdp.LoaderID, 8)
	err := chromedp.Listen(tab, func(event any) {
		if e, ok := event.(*page.EventLifecycleEvent); ok && e.Name == "networkIdle" {
			select {
			case idle <- e.LoaderID:
			case <-tab.Done():
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	began, err := chromedp.Call(tab, page.Navigate, page.NavigateParams{URL: url})
	if err != nil || began.ErrorText != "" {
		t.Fatalf("%s: %s %v", url, began.ErrorText, err)
	}
	for loaded := cdp.LoaderID(""); loaded != began.LoaderID; {
		select {
		case loaded = <-idle:
		case <-tab.Done():
			t.Fatalf("%s: the network is never idle", url)
		}
	}
	settled(t, tab, settle)
	links, err := chromedp.Run(tab, chromedp.Evaluate[[]string](`
		[...new Set([...document.querySelectorAll("a[href]")].map((a) => a.href.split("#")[0]))].sort()
			.filter((to) => to.startsWith("http") && to !== location.href.split("#")[0])`))
	if err != nil {
		t.Fatalf("%s: %v", url, err)
	}
	return links
}

// settled waits until the document has not changed for a while.
func settled(t testing.TB, tab context.Context, while time.Duration) {
	t.Helper()
	const state = `document.documentElement.outerHTML + performance.getEntriesByType("resource").length`
	before := ""
	for {
		now, err := chromedp.Run(tab, chromedp.Evaluate[string](state))
		if err != nil {
			t.Fatal(err)
		}
		if now == before || while == 0 {
			return
		}
		before = now
		time.Sleep(while)
	}
}
