package render

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// A browser is one Chromium with all its processes, in a process group and a folder of its own. It belongs to
// one goroutine.
type browser struct {
	ctx      context.Context // for chromedp; done once the browser has ended
	end      func()
	group    int // process group
	folder   *folder
	wall     net.Listener
	last     look    // at its processes; its helpers are those that have served it so far
	memory   watched // by watch
	full     bool    // its memory is near the limit
	rendered int     // number of pages
	room     *room   // of the page before; nil: none
	origin   string  // of the page before
	waiting  *visit  // of a page that lacks an answer; nil: none
	resumed  bool    // the latest page has waited
	unwatch  func()  // ends the watch while a page waits

	broken atomic.Bool  // one of its pages does not close
	killed atomic.Int64 // processor time when it was killed; 0: it was not
}

// A look is what the processes of a group show.
type look struct {
	helpers []int         // processes that serve all pages; Chromium restarts them, and their work is lost
	fetches bool          // the helper that fetches is among them
	page    int64         // memory of the largest process that displays pages, in bytes, with shared pages
	used    time.Duration // processor time of all
}

// watched is the state of the watch on a browser's memory.
type watched struct {
	looks int
	held  int64 // exact
	then  int64 // mapped memory at that time, or at its lowest since
}

// start starts a browser, which ends with close or ctx. If the browser ends or hangs while starting, for
// example because one of its processes is killed, start tries a second time.
func start(ctx context.Context, o Options, patience time.Duration) (*browser, error) {
	b, err := launch(ctx, o, patience)
	if err != nil && !errors.Is(err, ErrNoSandbox) && ctx.Err() == nil {
		b, err = launch(ctx, o, patience)
	}
	return b, err
}

func launch(ctx context.Context, o Options, patience time.Duration) (*browser, error) {
	folder, err := newFolder()
	if err != nil {
		return nil, err
	}
	wall, err := build()
	if err != nil {
		return nil, errors.Join(err, folder.remove())
	}
	var process *exec.Cmd // set when the browser is started
	ctx, endAll := chromedp.NewExecAllocator(ctx, append(switches(o, folder.path, wall.Addr().String()),
		chromedp.ModifyCmdFunc(func(cmd *exec.Cmd) { detach(cmd); process = cmd }))...)
	// Commands that fail return their error, so chromedp need not log it.
	ctx, endOne := chromedp.NewContext(ctx, chromedp.WithErrorf(func(string, ...any) {}))
	b := &browser{ctx: ctx, folder: folder, wall: wall, unwatch: func() {}, end: func() { endOne(); endAll() }}
	late := time.AfterFunc(patience, endAll)
	err = b.hide()
	if process != nil && process.Process != nil { // even if it never answered
		b.group = process.Process.Pid
	}
	if err == nil {
		err = b.await()
	}
	if !late.Stop() {
		err = fmt.Errorf("it has not started within %s", patience)
	}
	if err != nil {
		if strings.Contains(err.Error(), "sandbox") {
			err = fmt.Errorf("%w: allow users to make namespaces, or set [render] sandbox = false (%w)", ErrNoSandbox, err)
		}
		return nil, errors.Join(err, b.close())
	}
	return b, nil
}

// build opens the wall, a proxy that closes every connection at once. Everything that the browser
// requests outside the protocol ends there. With a proxy, the browser looks up no names and has no
// other way out.
func build() (net.Listener, error) {
	wall, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	go func() { // ends with the listener
		for {
			c, err := wall.Accept()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err == nil {
				c.Close()
			}
		}
	}()
	return wall, nil
}

// switches returns Chromium's options. They leave out the user's own settings, leave no way out but
// the wall, and avoid a process per site, so that one session sees every frame. No
// process connects to the machine's message bus or sound server.
func switches(o Options, folder, wall string) []chromedp.ExecAllocatorOption {
	all := []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(o.Path), chromedp.UserDataDir(filepath.Join(folder, "profile")),
		chromedp.NoInheritEnv, chromedp.Env("HOME="+folder, "TMPDIR="+folder, "PATH="+os.Getenv("PATH"), "TZ=UTC",
			"LANG=C.UTF-8", "DBUS_SYSTEM_BUS_ADDRESS=disabled:", "DBUS_SESSION_BUS_ADDRESS=disabled:"),
	}
	for name, value := range map[string]any{
		"no-sandbox":                      o.NoSandbox,
		"proxy-server":                    "http://" + wall,
		"proxy-bypass-list":               "<-loopback>",
		"host-resolver-rules":             "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
		"lang":                            "en-US",
		"accept-lang":                     "en-US",
		"window-size":                     "1280,800",
		"force-color-profile":             "srgb",
		"blink-settings":                  "imagesEnabled=false", // the end of an image's load is unpredictable
		"password-store":                  "basic",
		"renderer-process-limit":          "1",
		"force-webrtc-ip-handling-policy": "disable_non_proxied_udp",
		"webrtc-ip-handling-policy":       "disable_non_proxied_udp",
		"disable-features": "IsolateOrigins,SitePerProcess,OriginKeyedProcessesByDefault,Translate,OptimizationHints," +
			"MediaRouter,DialMediaRouteProvider,AsyncDns,DnsOverHttps,PreconnectToSearch," +
			"NetworkTimeServiceQuerying,Prerender2,SpeculationRulesPrefetchFuture,HttpsUpgrades," +
			"HttpsFirstBalancedModeAutoEnable,SpareRendererForSitePerProcess,BackForwardCache," +
			"InterestFeedContentSuggestions,CertificateTransparencyComponentUpdater,AutofillServerCommunication",
	} {
		all = append(all, chromedp.Flag(name, value))
	}
	for _, name := range []string{
		"headless", "disable-gpu", "hide-scrollbars", "mute-audio", "no-first-run", "no-default-browser-check",
		"no-pings",
		"disable-audio-output",
		"disable-quic", "disable-extensions", "disable-sync", "disable-background-networking",
		"disable-component-update",
		"disable-default-apps", "disable-breakpad", "disable-crash-reporter", "disable-client-side-phishing-detection",
		"disable-domain-reliability", "disable-dev-shm-usage", "disable-site-isolation-trials", "disable-hang-monitor",
		"disable-background-timer-throttling", "disable-backgrounding-occluded-windows",
		"disable-renderer-backgrounding",
		"disable-ipc-flooding-protection", "disable-threaded-animation", "disable-threaded-scrolling",
		"disable-checker-imaging", "disable-image-animation-resync", "disable-notifications", "dns-prefetch-disable",
		"metrics-recording-only", "use-mock-keychain", "enable-automation",
	} {
		all = append(all, chromedp.Flag(name, true))
	}
	return all
}

// hide closes the window that a browser starts with, which costs two processes. Hidden tabs can be opened as
// long as some tab exists.
func (b *browser) hide() error {
	if err := chromedp.Do(b.ctx); err != nil {
		return err
	}
	if _, err := hidden(b.ctx, ""); err != nil {
		return err
	}
	_, err := chromedp.CallBrowser(b.ctx, target.CloseTarget, target.CloseTargetParams{
		TargetID: chromedp.FromContext(b.ctx).Target.TargetID})
	return err
}

// await waits for the helper that fetches for all pages. That helper may have ended while the
// browser was starting, and a browser without it looks like any other.
func (b *browser) await() error {
	for {
		if b.last = lookAt(b.group); b.last.fetches {
			return nil
		}
		select {
		case <-b.ctx.Done():
			return fmt.Errorf("the browser has no process of its own that fetches: %w", b.ctx.Err())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// whole reports whether all helpers that have served the browser so far still exist. A helper that
// has ended is restarted, but not at once, and pages miss what they request meanwhile. A process
// that is just being started looks like the helper from which it was forked; it has not ended when
// it becomes another process.
func (b *browser) whole() bool {
	before := b.last.helpers
	b.last = lookAt(b.group)
	gone := slices.DeleteFunc(slices.Clone(before), func(helper int) bool {
		return slices.Contains(b.last.helpers, helper)
	})
	if len(gone) == 0 {
		return true
	}
	there := members(b.group)
	return !slices.ContainsFunc(gone, func(helper int) bool { return !slices.Contains(there, helper) })
}

// watch cancels through fail if the browser's memory exceeds the limit, in bytes. The returned
// function ends the watch. The exact figure takes long to find, so it is looked up every two seconds, and as soon as
// mapped memory has grown by a quarter of what the limit still leaves, whichever page does that.
func (b *browser) watch(ctx context.Context, limit int64, fail context.CancelCauseFunc) func() {
	ctx, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		look := time.NewTicker(250 * time.Millisecond)
		defer look.Stop()
		w := &b.memory
		for ; ; w.looks++ {
			select {
			case <-ctx.Done():
				return
			case <-look.C:
			}
			now := mapped(b.group)
			if w.then = min(w.then, now); w.looks%8 == 0 || now-w.then > (limit-w.held)/4 {
				w.held, w.then = resident(b.group), now
			}
			if w.held > limit {
				fail(fmt.Errorf("browser holds %d MB, more than %d", w.held>>20, limit>>20))
				return
			}
		}
	}()
	return func() { stop(); <-done }
}

// close kills the browser and all its processes, and removes its folder.
func (b *browser) close() error {
	b.unwatch()
	if b.group != 0 {
		kill(b.group)
	}
	b.end()
	err := b.wall.Close()
	for range 100 { // some processes are forked while the others are killed
		if b.group == 0 || len(members(b.group)) == 0 {
			break
		}
		kill(b.group)
		time.Sleep(10 * time.Millisecond)
	}
	return errors.Join(err, b.folder.remove())
}

// kill kills the browser immediately.
func (b *browser) kill() {
	b.killed.Store(int64(processorTime(b.group)))
	kill(b.group)
}

// used returns the processor time that the browser has used.
func (b *browser) used() time.Duration {
	if killed := b.killed.Load(); killed != 0 {
		return time.Duration(killed)
	}
	return b.last.used
}
