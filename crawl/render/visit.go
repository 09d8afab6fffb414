package render

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/inspector"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// Bounds of what a page does.
const (
	maxRequests = 1_000     // the others are refused
	maxLed      = 128 << 10 // bytes of the URLs that its scripts lead it to; others are not noted
)

//go:embed read.js
var read string

// A visit renders one page in a tab of its own. Its requests are answered one at a time, in
// the order in which they were made, each once the page has read the answer before. From
// the first that has no answer on none is answered, and who else asks is noted only.
type visit struct {
	ctx     context.Context // of chromedp, of the tab
	page    Page
	answers Answers
	frame   cdp.FrameID // the page's own
	events  *mailbox
	result  Rendering

	started  bool                        // the page itself has been answered
	over     bool                        // its time is
	requests int                         // made
	led      int                         // bytes of the navigations
	waiting  []*fetch.EventRequestPaused // in order
	held     []*fetch.EventRequestPaused // asked for, and never answered
	reading  network.RequestID           // answered, and not read yet; empty: none
}

// render renders a page in a new context of the browser, which knows nothing of others.
func (b *browser) render(ctx context.Context, p Page, a Answers, o Options) (Rendering, error) {
	defer context.AfterFunc(ctx, b.kill)()
	tab, end, err := b.tab()
	if err != nil {
		return Rendering{}, err
	}
	defer end()
	v := &visit{ctx: tab, page: p, answers: a, events: newMailbox()}
	if err := chromedp.Listen(tab, v.events.put); err != nil {
		return Rendering{}, err
	}
	v.frame = cdp.FrameID(chromedp.FromContext(tab).Target.TargetID)
	if err := prepare(tab, o); err != nil {
		return Rendering{}, err
	}
	if err := v.run(); err != nil {
		return Rendering{}, err
	}
	if len(v.result.Missing) != 0 {
		return v.result, v.release()
	}
	return v.result, v.document(o.MaxDOM)
}

// run leads the tab to the page, and answers it until its time is over or something is
// missing.
func (v *visit) run() error {
	arrived := make(chan error, 1)
	go func() { arrived <- v.navigate() }() // ends with the tab
	for !v.over {
		var late <-chan time.Time
		var unread network.RequestID
		if v.reading != "" && len(v.waiting) != 0 {
			late = time.After(time.Second)
		}
		select {
		case <-v.ctx.Done():
			return v.ctx.Err()
		case err := <-arrived:
			if err != nil {
				return err
			}
		case <-v.events.some:
		case <-late: // the page does not read what it asked for, or waits for another answer first
			unread = v.reading
			if err := v.rouse(); err != nil {
				return err
			}
		}
		if err := v.hear(); err != nil {
			return err
		}
		if v.reading == unread {
			v.reading = ""
		}
		if err := v.advance(); err != nil {
			return err
		}
		if len(v.result.Missing) != 0 {
			return v.gather()
		}
	}
	return nil
}

// navigate leads the tab to the page and has its time run. The tab's process hears of the
// time only when no script stands still for an answer.
func (v *visit) navigate() error {
	done, err := chromedp.Call(v.ctx, page.Navigate, page.NavigateParams{URL: v.page.URL})
	if err == nil && done.ErrorText != "" {
		err = errors.New(done.ErrorText)
	}
	if err != nil {
		return err
	}
	return startTime(v.ctx)
}

// hear takes in what the browser has said.
func (v *visit) hear() error {
	events, err := v.events.take()
	if err != nil {
		return err
	}
	for _, event := range events {
		switch e := event.(type) {
		case *fetch.EventRequestPaused:
			v.requests++
			v.waiting = append(v.waiting, e)
			v.read(e.NetworkID) // a redirect has been read when its target is asked for
		case *network.EventLoadingFinished:
			v.read(e.RequestID)
		case *network.EventLoadingFailed:
			v.read(e.RequestID)
		case *emulation.EventVirtualTimeBudgetExpired:
			v.over = true
		case *runtime.EventBindingCalled:
			v.told(e.Payload)
		case *inspector.EventTargetCrashed:
			return errors.New("the page crashed")
		}
	}
	return nil
}

func (v *visit) read(id network.RequestID) {
	if id == v.reading {
		v.reading = ""
	}
}

// told notes what the page's world has refused by itself.
func (v *visit) told(text string) {
	var t struct{ Method, URL, Reason string }
	if json.Unmarshal([]byte(text), &t) != nil {
		return
	}
	if t.Reason == reasonNavigation {
		v.navigation(t.URL)
		return
	}
	v.refused(Request{t.Method, t.URL}, t.Reason)
}

// advance answers who waits, one at a time.
func (v *visit) advance() error {
	for v.reading == "" && len(v.waiting) != 0 && len(v.result.Missing) == 0 {
		first := v.waiting[0]
		v.waiting = v.waiting[1:]
		if err := v.answer(first); err != nil {
			return err
		}
	}
	return nil
}

// rouse returns when the page's process has had its turn, or stands still for long, as in a synchronous
// request.
func (v *visit) rouse() error {
	ctx, cancel := context.WithTimeout(v.ctx, time.Second)
	defer cancel()
	_, err := chromedp.Call(ctx, runtime.Evaluate, runtime.EvaluateParams{Expression: "0"})
	var said *cdproto.Error // as of a page that another one is just taking the place of
	if err != nil && (v.ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) && !errors.As(err, &said)) {
		return err
	}
	return nil
}

// gather notes what else is missing, until the page asks no more while it is kept waiting.
// What it would have asked only later is asked for in another round: whether it is noted
// now decides how many rounds there are, and nothing else.
func (v *visit) gather() error {
	for quiet := 0; quiet < 2; quiet++ {
		if err := v.rouse(); err != nil {
			return err
		}
		time.Sleep(5 * time.Millisecond)
		if err := v.hear(); err != nil {
			return err
		}
		if len(v.waiting) != 0 {
			quiet = -1
		}
		for _, e := range v.waiting {
			if err := v.note(e); err != nil {
				return err
			}
		}
		v.waiting = nil
	}
	return nil
}

// note notes what a request that is kept waiting asks for.
func (v *visit) note(e *fetch.EventRequestPaused) error {
	if e.ResourceType == network.ResourceTypeOther {
		return nil
	}
	if preflight(e) {
		return v.answer(e)
	}
	v.ask(e)
	v.held = append(v.held, e)
	return nil
}

// release fails who was kept waiting, so that a page whose script stands still for an answer
// can be closed.
func (v *visit) release() error {
	for _, e := range v.held {
		if err := v.fail(e, network.ErrorReasonAborted); err != nil {
			return err
		}
	}
	return nil
}

// document reads the document.
func (v *visit) document(limit int64) error {
	world, err := chromedp.Call(v.ctx, page.CreateIsolatedWorld, page.CreateIsolatedWorldParams{FrameID: v.frame})
	if err != nil {
		return err
	}
	byValue := true
	url, _ := json.Marshal(v.page.URL) // a text always has a form
	got, err := chromedp.Call(v.ctx, runtime.Evaluate, runtime.EvaluateParams{
		Expression: fmt.Sprintf("(%s)(%s, %d)", read, url, limit), ContextID: world.ExecutionContextID,
		ReturnByValue: &byValue,
	})
	if err != nil {
		return err
	}
	if got.ExceptionDetails != nil || got.Result == nil {
		return errors.New("the document cannot be read")
	}
	var text *string
	if err := json.Unmarshal(got.Result.Value, &text); err != nil {
		return fmt.Errorf("read document: %w", err)
	}
	if text == nil || int64(len(*text)) > limit {
		v.result.TooLarge = true
		return nil
	}
	v.result.DOM = []byte(*text)
	return nil
}

// navigation notes where scripts tried to lead the page, as far as there is room.
func (v *visit) navigation(url string) {
	if v.led+len(url) > maxLed || slices.Contains(v.result.Navigations, url) {
		return
	}
	v.result.Navigations, v.led = append(v.result.Navigations, url), v.led+len(url)
}

func (v *visit) refused(r Request, reason string) {
	if refusal := (Refusal{r, reason}); !slices.Contains(v.result.Refused, refusal) {
		v.result.Refused = append(v.result.Refused, refusal)
	}
}
