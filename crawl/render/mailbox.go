package render

import (
	"errors"
	"sync"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/inspector"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
)

// Limits on a page's events. A script can produce events for as long as its page has time, and all
// of them are kept here.
const (
	maxEvents = 20_000   // per visit
	maxWords  = 16 << 20 // bytes of the URLs that a page requests or reports
)

// errFlood reports a page that exceeds the limits.
var errFlood = errors.New("the page asks for more than a page may")

// A mailbox holds a tab's events, in order, until they are taken.
type mailbox struct {
	some chan struct{} // receives when there are events

	mu     sync.Mutex
	events []any
	said   int // events so far
	words  int
}

func newMailbox() *mailbox { return &mailbox{some: make(chan struct{}, 1)} }

// put keeps the events that a visit needs.
func (m *mailbox) put(event any) {
	switch event.(type) {
	case *fetch.EventRequestPaused, *network.EventLoadingFinished, *network.EventLoadingFailed,
		*emulation.EventVirtualTimeBudgetExpired, *runtime.EventBindingCalled, *inspector.EventTargetCrashed:
	default:
		return
	}
	m.mu.Lock()
	if m.count(event); !m.flooded() {
		m.events = append(m.events, event)
	}
	m.mu.Unlock()
	select {
	case m.some <- struct{}{}:
	default:
	}
}

// count counts an event.
func (m *mailbox) count(event any) {
	m.said++
	switch e := event.(type) {
	case *fetch.EventRequestPaused:
		m.words += len(e.Request.URL)
	case *runtime.EventBindingCalled:
		m.words += len(e.Payload)
	}
}

func (m *mailbox) flooded() bool { return m.said > maxEvents || m.words > maxWords }

// take returns the events since the last call, or errFlood.
func (m *mailbox) take() ([]any, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.flooded() {
		m.events = nil
		return nil, errFlood
	}
	taken := m.events
	m.events = nil
	return taken, nil
}
