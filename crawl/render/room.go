package render

import (
	"context"
	_ "embed"
	"errors"
	neturl "net/url"
	"slices"
	"time"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/storage"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

const (
	// Number of pages after which a room is replaced.
	pagesPerRoom = 50
	// Memory of a page's process above which its room is replaced, in bytes, shared pages included.
	roomMemory = 256 << 20
	// Memory of a browser above which its room is replaced, so that pages in a row do not exceed its limit.
	fullMemory = MemoryLimit / 16 * 15
)

// A room is a browser context with one process. It is for one page, or for pages of one origin in a row: to start and
// to end a process for each page takes half of the processor time of a short page.
//
// Each page finds its room empty: the tabs, storage and cookies of earlier pages are gone, and so are the resources in
// the process's memory. What a process keeps otherwise, such as compiled scripts, no page can observe.
type room struct {
	context cdp.BrowserContextID
	origin  string
	keeper  target.ID // an empty tab, without which the process ends with the page's tab; empty: for one page
	pages   int       // begun
}

// empty.js empties what only the process itself can empty at once.
//
//go:embed empty.js
var empty string

// enter returns the room for a page. The former room is left, unless it is of the same origin and vacant.
func (b *browser) enter(url string) (*room, error) {
	origin, err := originOf(url)
	if err != nil {
		return nil, err
	}
	if r := b.room; r != nil {
		if r.origin == origin && r.pages < pagesPerRoom && !b.full && b.last.page <= roomMemory && b.vacant(r) {
			return r, nil
		}
		if err := b.leave(); err != nil {
			return nil, err
		}
	}
	made, err := chromedp.CallBrowser(b.ctx, target.CreateBrowserContext, target.CreateBrowserContextParams{})
	if err != nil {
		return nil, err
	}
	r := &room{context: made.BrowserContextID, origin: origin}
	if b.origin == origin { // the second page in a row, so that there may be more
		if r.keeper, err = hidden(b.ctx, r.context); err != nil {
			return nil, err
		}
	}
	b.room, b.origin = r, origin
	return r, deny(b.ctx, r.context)
}

// tabs returns what a room contains: tabs, and what pages may have opened in other ways, such as workers.
func (b *browser) tabs(ctx context.Context, in *room) (ids []target.ID, err error) {
	all, err := chromedp.CallBrowser(ctx, target.GetTargets, target.GetTargetsParams{Filter: target.Filter{{}}})
	for _, one := range all.TargetInfos {
		if one.BrowserContextID == in.context && one.Type != "tab" { // a tab contains the page, which has its own ID
			ids = append(ids, one.TargetID)
		}
	}
	return ids, err
}

// vacant reports whether nothing but the keeper is left in a room. A tab that is being closed still runs the scripts
// that a page has for that; it has a second.
func (b *browser) vacant(r *room) bool {
	ctx, cancel := context.WithTimeout(b.ctx, time.Second)
	defer cancel()
	for {
		left, err := b.tabs(ctx, r)
		if err != nil || slices.Equal(left, []target.ID{r.keeper}) {
			return err == nil
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// reused reports whether the process of the latest page had something else to do before.
func (b *browser) reused() bool { return b.resumed || b.room != nil && b.room.pages > 1 }

// leave closes the browser's room, which ends its process.
func (b *browser) leave() error {
	r := b.room
	b.room = nil
	ctx, cancel := context.WithTimeout(b.ctx, 10*time.Second)
	defer cancel()
	var failed []error
	if r.keeper != "" { // disposing of a context does not close its hidden tabs
		left, err := b.tabs(ctx, r)
		failed = append(failed, err)
		for _, id := range left {
			_, err := chromedp.CallBrowser(ctx, target.CloseTarget, target.CloseTargetParams{TargetID: id})
			if said := (*cdproto.Error)(nil); !errors.As(err, &said) { // otherwise it has just closed
				failed = append(failed, err)
			}
		}
	}
	_, err := chromedp.CallBrowser(ctx, target.DisposeBrowserContext,
		target.DisposeBrowserContextParams{BrowserContextID: r.context})
	return errors.Join(append(failed, err)...)
}

// empty removes what earlier pages have left in a room, through a tab that has not displayed a page yet.
func (r *room) empty(tab context.Context) error {
	if r.pages == 0 {
		return nil
	}
	_, err := chromedp.CallBrowser(tab, storage.ClearCookies, storage.ClearCookiesParams{BrowserContextID: r.context})
	return errors.Join(err,
		// Local storage, of which processes have copies, is emptied by the page's own process.
		tell(tab, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: empty}),
		tell(tab, storage.ClearDataForOrigin, storage.ClearDataForOriginParams{Origin: r.origin,
			StorageTypes: "file_systems,indexeddb,service_workers,cache_storage,interest_groups,shared_storage," +
				"storage_buckets,other"}),
		// The process drops the resources in its memory when its cache is turned off.
		tell(tab, network.SetCacheDisabled, network.SetCacheDisabledParams{CacheDisabled: true}),
		tell(tab, network.SetCacheDisabled, network.SetCacheDisabledParams{}))
}

func originOf(address string) (string, error) {
	u, err := neturl.Parse(address)
	if err != nil {
		return "", err
	}
	return u.Scheme + "://" + u.Host, nil
}
