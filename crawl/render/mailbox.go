package render

import (
	"sync"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/inspector"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
)

// A mailbox holds a tab's events, in order, until they are taken.
type mailbox struct {
	some chan struct{} // receives if there are some

	mu     sync.Mutex
	events []any
}

func newMailbox() *mailbox { return &mailbox{some: make(chan struct{}, 1)} }

// put keeps the events that a visit wants.
func (m *mailbox) put(event any) {
	switch event.(type) {
	case *fetch.EventRequestPaused, *network.EventRequestWillBeSent, *network.EventLoadingFinished, *network.EventLoadingFailed,
		*emulation.EventVirtualTimeBudgetExpired, *runtime.EventBindingCalled, *inspector.EventTargetCrashed:
	default:
		return
	}
	m.mu.Lock()
	m.events = append(m.events, event)
	m.mu.Unlock()
	select {
	case m.some <- struct{}{}:
	default:
	}
}

// take returns the events since the last time.
func (m *mailbox) take() []any {
	m.mu.Lock()
	defer m.mu.Unlock()
	taken := m.events
	m.events = nil
	return taken
}
