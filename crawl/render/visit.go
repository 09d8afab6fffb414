package render

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
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

// Limits on what a page does.
const (
	maxRequests = 1_000     // further ones are refused
	maxLed      = 128 << 10 // bytes of recorded navigation URLs; further ones are not recorded
)

// A page requests pauseURL while it waits for a database; see world.js.
const pauseURL = "https://pause.invalid/"

//go:embed read.js
var read string

// A visit renders one page in a tab of its own. Its requests are answered one at a time, in the
// order in which they were made, each after the page has read the previous answer. After the first
// request without an answer, none is answered, and further requests are only recorded.
type visit struct {
	ctx     context.Context // chromedp's, for the tab
	in      *room
	page    Page
	answers Answers
	frame   cdp.FrameID // the page's main frame
	events  *mailbox
	result  Rendering

	leave   func()      // closes the tab
	arrived chan error  // receives when the tab has been navigated
	given   []given     // answers so far, in order
	late    *time.Timer // while it waits: leaves

	started  bool                        // the page itself has been answered
	over     bool                        // its time is over
	requests int                         // made
	led      int                         // bytes of the recorded navigations
	known    map[Refusal]bool            // those recorded, and navigations
	waiting  []*fetch.EventRequestPaused // in order
	held     []*fetch.EventRequestPaused // in order; not answered, because the answer to the first one is missing
	reading  network.RequestID           // answered and not yet read; empty: none
}

// render renders a page in a tab of its own, in a room that is empty. If something is missing, the page waits in its
// tab until it is rendered again, or another page is.
func (b *browser) render(ctx context.Context, p Page, a Answers, o Options) (Rendering, error) {
	defer context.AfterFunc(ctx, b.kill)()
	v := b.waiting
	b.waiting, b.resumed = nil, false
	if v != nil && !v.resume(p, a) {
		v.leave()
		v = nil
	}
	if b.resumed = v != nil; v == nil {
		var err error
		if v, err = b.open(p, a, o); err != nil {
			return Rendering{}, err
		}
	}
	err := v.run()
	if err == nil && len(v.result.Missing) != 0 {
		b.waiting, v.late = v, time.AfterFunc(waitOfPage, v.leave)
		return v.result, nil
	}
	defer v.leave()
	if err != nil {
		return Rendering{}, err
	}
	return v.result, v.document(o.MaxDOM)
}

// open opens a tab for a page, and navigates it to the page.
func (b *browser) open(p Page, a Answers, o Options) (*visit, error) {
	in, err := b.enter(p.URL)
	if err != nil {
		return nil, err
	}
	tab, end, err := b.tab(in)
	if err != nil {
		return nil, err
	}
	in.pages++
	v := &visit{ctx: tab, in: in, page: p, answers: a, events: newMailbox(), arrived: make(chan error, 1)}
	v.leave = sync.OnceFunc(func() { v.stop(); v.release(); end() })
	err = chromedp.Listen(tab, v.events.put)
	if err == nil {
		v.frame = cdp.FrameID(chromedp.FromContext(tab).Target.TargetID)
		err = errors.Join(prepare(tab, o), in.empty(tab))
	}
	if err != nil {
		v.leave()
		return nil, err
	}
	go func() { v.arrived <- v.navigate() }() // ends with the tab
	return v, nil
}

// stop stops the time of a page that is left before it is over. All tabs of a process share one time. Once the page is
// gone, no request holds that time: it would run to its end, and from there, under load, to the end of the next page's
// as soon as that starts. If the time does not stop, the room is not used again.
func (v *visit) stop() {
	if v.over {
		return
	}
	ctx, cancel := context.WithTimeout(v.ctx, 250*time.Millisecond)
	defer cancel()
	if err := stopTime(ctx); err != nil { // for example, a script blocks on an answer
		v.in.pages = pagesPerRoom
	}
}

// release fails the requests that are held, since a page whose script blocks on an answer cannot be closed.
func (v *visit) release() {
	for _, e := range v.held {
		_ = v.fail(e, network.ErrorReasonAborted)
	}
}

// run answers the requests of the page until its time is over or something is missing.
func (v *visit) run() error {
	for !v.over {
		if err := v.advance(); err != nil {
			return err
		}
		if len(v.result.Missing) != 0 {
			return v.gather()
		}
		var late <-chan time.Time
		var unread network.RequestID
		if v.reading != "" && len(v.waiting) != 0 {
			late = time.After(time.Second)
		}
		select {
		case <-v.ctx.Done():
			return v.ctx.Err()
		case err := <-v.arrived:
			if err != nil {
				return err
			}
		case <-v.events.some:
		case <-late: // the page does not read the answer, or waits for another one first
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
	}
	return nil
}

// navigate navigates the tab to the page and starts its time. The tab's process handles that command only
// while no script blocks on an answer.
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

// hear processes the browser's events.
func (v *visit) hear() error {
	events, err := v.events.take()
	if err != nil {
		return err
	}
	for _, event := range events {
		switch e := event.(type) {
		case *fetch.EventRequestPaused:
			if e.Request.URL == pauseURL {
				if err := v.pause(e); err != nil {
					return err
				}
				break
			}
			v.requests++
			v.waiting = append(v.waiting, e)
			v.read(e.NetworkID) // a redirect has been read when its target is requested
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

// pause gives the browser's own process time to answer a page, which blocks meanwhile.
func (v *visit) pause(e *fetch.EventRequestPaused) error {
	time.Sleep(5 * time.Millisecond)
	reading := v.reading
	err := v.fail(e, network.ErrorReasonAborted)
	v.reading = reading
	return err
}

func (v *visit) read(id network.RequestID) {
	if id == v.reading {
		v.reading = ""
	}
}

// told records a refusal by world.js, which is part of the page.
func (v *visit) told(text string) {
	var t struct{ Method, URL, Reason string }
	if json.Unmarshal([]byte(text), &t) != nil {
		return
	}
	if t.Reason == reasonNavigation {
		v.navigation(t.URL)
		return
	}
	v.refused(Request{t.Method, Resource{URL: t.URL}}, t.Reason)
}

// advance answers the waiting requests, one at a time.
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

// rouse returns when the page's process has had a turn, or has been blocked for long, as in a
// synchronous request.
func (v *visit) rouse() error {
	ctx, cancel := context.WithTimeout(v.ctx, time.Second)
	defer cancel()
	_, err := chromedp.Call(ctx, runtime.Evaluate, runtime.EvaluateParams{Expression: "0"})
	var said *cdproto.Error // for example for a page that is just being replaced
	if err != nil && (v.ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) && !errors.As(err, &said)) {
		return err
	}
	return nil
}

// gather records the other missing requests, until the blocked page makes no more requests. Requests that the page
// would make only later are left to another round. Whether a request is recorded now only affects the number of rounds.
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

// note records a request as missing if it is, and keeps it waiting.
func (v *visit) note(e *fetch.EventRequestPaused) error {
	if preflight(e) {
		return v.answer(e)
	}
	v.held = append(v.held, e)
	if unseen(e) || v.leads(e) || v.forbids(e) != "" {
		return nil
	}
	if r := requestOf(e); !v.hasAnswer(r) {
		v.result.Missing = once(v.result.Missing, r)
	}
	return nil
}

func (v *visit) hasAnswer(r Request) bool {
	_, known := v.answers.Answer(r)
	return known
}

// document reads the document of the page.
func (v *visit) document(limit int64) error {
	world, err := chromedp.Call(v.ctx, page.CreateIsolatedWorld, page.CreateIsolatedWorldParams{FrameID: v.frame})
	if err != nil {
		return err
	}
	byValue := true
	url, _ := json.Marshal(v.page.URL) // marshalling a string never fails
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

// navigation records where scripts tried to navigate the page, within the limit.
func (v *visit) navigation(url string) {
	if v.led+len(url) > maxLed || v.knew(Refusal{Request{Resource: Resource{URL: url}}, reasonNavigation}) {
		return
	}
	v.result.Navigations, v.led = append(v.result.Navigations, url), v.led+len(url)
}

func (v *visit) refused(r Request, reason string) {
	if refusal := (Refusal{r, reason}); !v.knew(refusal) {
		v.result.Refused = append(v.result.Refused, refusal)
	}
}

// knew reports whether a refusal is recorded already, and remembers it.
func (v *visit) knew(r Refusal) bool {
	if v.known[r] {
		return true
	}
	if v.known == nil {
		v.known = map[Refusal]bool{}
	}
	v.known[r] = true
	return false
}
