package render

import (
	"context"
	_ "embed"
	"errors"
	"time"

	protocol "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/css"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

const (
	// Lifetime of a page, in milliseconds of its own time. It is longer than in world.js, where timers end, so that none
	// races against the end.
	lifetime = 10_250.5
	// Time at which a page starts, in seconds since 1970: noon of 1 January 2026, UTC, as in world.js.
	birth = 1_767_268_800
)

//go:embed world.js
var world string

// tab opens a tab without a window in a room. The returned function closes it, and the room if it is for one page.
// If it cannot, it marks the browser as broken.
func (b *browser) tab(in *room) (context.Context, func(), error) {
	made, err := hidden(b.ctx, in.context)
	if err != nil {
		return nil, nil, err
	}
	tab, end := chromedp.NewContext(b.ctx, chromedp.WithTargetID(made), chromedp.WithDetachOnCancel())
	return tab, func() {
		end()
		ctx, cancel := context.WithTimeout(b.ctx, 10*time.Second)
		defer cancel()
		_, err := chromedp.CallBrowser(ctx, target.CloseTarget, target.CloseTargetParams{TargetID: made})
		if in.keeper == "" {
			err = errors.Join(err, b.leave())
		}
		b.broken.Store(err != nil)
	}, nil
}

// hidden opens a tab without a window in a browser context. An empty context is the browser's
// default.
func hidden(ctx context.Context, in cdp.BrowserContextID) (target.ID, error) {
	yes := true
	made, err := chromedp.CallBrowser(ctx, target.CreateTarget, target.CreateTargetParams{
		URL: "about:blank", BrowserContextID: in, Hidden: &yes})
	return made.TargetID, err
}

// prepare sets up the world of a page in a tab, and stops its time.
func prepare(tab context.Context, o Options) error {
	return errors.Join(
		tell(tab, css.Disable, cdp.Empty{}), // chromedp enables these; they are not needed here
		tell(tab, dom.Disable, cdp.Empty{}),
		tell(tab, log.Disable, cdp.Empty{}),
		tell(tab, page.SetLifecycleEventsEnabled, page.SetLifecycleEventsEnabledParams{}),
		tell(tab, runtime.AddBinding, runtime.AddBindingParams{Name: "rippleTells"}),
		tell(tab, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: world}),
		tell(tab, emulation.SetUserAgentOverride, emulation.SetUserAgentOverrideParams{
			UserAgent: o.UserAgent, AcceptLanguage: "en-US", Platform: "Linux x86_64"}),
		tell(tab, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: "UTC"}),
		tell(tab, emulation.SetHardwareConcurrencyOverride,
			emulation.SetHardwareConcurrencyOverrideParams{HardwareConcurrency: 4}),
		tell(tab, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
			Width: 1280, Height: 800, ScreenWidth: 1280, ScreenHeight: 800, DeviceScaleFactor: 1}),
		tell(tab, fetch.Enable, fetch.EnableParams{}),
		tell(tab, emulation.SetVirtualTimePolicy, emulation.SetVirtualTimePolicyParams{
			Policy: emulation.VirtualTimePolicyPause, InitialVirtualTime: birth}),
	)
}

// startTime lets the page's time run while no request is pending.
func startTime(tab context.Context) error {
	budget := lifetime
	return tell(tab, emulation.SetVirtualTimePolicy, emulation.SetVirtualTimePolicyParams{
		Policy: emulation.VirtualTimePolicyPauseIfNetworkFetchesPending, Budget: &budget})
}

// stopTime stops the page's time.
func stopTime(tab context.Context) error {
	return tell(tab, emulation.SetVirtualTimePolicy, emulation.SetVirtualTimePolicyParams{
		Policy: emulation.VirtualTimePolicyPause})
}

// deny refuses downloads.
func deny(tab context.Context, id cdp.BrowserContextID) error {
	_, err := chromedp.CallBrowser(tab, protocol.SetDownloadBehavior, protocol.SetDownloadBehaviorParams{
		Behavior: protocol.SetDownloadBehaviorBehaviorDeny, BrowserContextID: id})
	return err
}

// tell sends a command and ignores its result.
func tell[P, R any](tab context.Context, command cdp.Command[P, R], params P) error {
	_, err := chromedp.Call(tab, command, params)
	return err
}
