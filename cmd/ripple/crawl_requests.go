package main

import (
	"container/list"
	"sync"
	"time"

	"github.com/sumi-ripple/ripple/crawl"
)

const (
	keptHosts    = 1000 // that were asked last
	keptRequests = 100  // of each
)

// A request is one that was sent to a host, with the rest that it had before.
type request struct {
	URL        string    `json:"url"`
	Kind       string    `json:"kind"` // robots, sitemap, head or get; page: a visit, of a crawl that is over
	At         time.Time `json:"at"`
	GapMS      int64     `json:"gap_ms"`      // that was kept; 0: there was none before, in its run
	PromisedMS int64     `json:"promised_ms"` // the least that was promised then
	Status     int       `json:"status_code"`
	ResponseMS int64     `json:"response_ms"`
	Error      string    `json:"error_message"`
}

// A requestList are the last requests to a host, the newest first.
type requestList struct {
	Domain   string    `json:"domain"`
	Requests []request `json:"requests"`
}

// lastRequests are the last requests to the hosts that were asked last. Its methods may
// be called from any goroutine; the zero value is empty.
type lastRequests struct {
	mu     sync.Mutex
	byName map[string]*list.Element // of strips
	strips list.List                // of *strip, those asked last in front
}

// A strip is the last requests to one host.
type strip struct {
	host string
	last []crawl.Request // a ring, once it is full
	n    int             // were added
}

func (l *lastRequests) add(r crawl.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.byName[r.Host]
	if e == nil {
		e = l.begin(r.Host)
	}
	l.strips.MoveToFront(e)
	s := e.Value.(*strip)
	if len(s.last) < keptRequests {
		s.last = append(s.last, r)
	} else {
		s.last[s.n%keptRequests] = r
	}
	s.n++
}

// begin begins the strip of a host, in the place of the one that was asked longest ago.
func (l *lastRequests) begin(host string) *list.Element {
	if l.byName == nil {
		l.byName = map[string]*list.Element{}
	}
	if last := l.strips.Back(); last != nil && len(l.byName) >= keptHosts {
		delete(l.byName, l.strips.Remove(last).(*strip).host)
	}
	e := l.strips.PushFront(&strip{host: host})
	l.byName[host] = e
	return e
}

// of returns the last requests to a host.
func (l *lastRequests) of(host string) requestList {
	l.mu.Lock()
	defer l.mu.Unlock()
	found := requestList{host, []request{}}
	e := l.byName[host]
	if e == nil {
		return found
	}
	s := e.Value.(*strip)
	for i := range s.last {
		r := s.last[(s.n-1-i)%len(s.last)]
		found.Requests = append(found.Requests, request{
			URL: r.URL, Kind: r.Kind, At: r.At.UTC(),
			GapMS: r.Gap.Milliseconds(), PromisedMS: r.Promised.Milliseconds(),
			Status: r.Status, ResponseMS: r.Time.Milliseconds(), Error: r.Error,
		})
	}
	return found
}
