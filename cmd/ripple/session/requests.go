package session

import (
	"container/list"
	"sync"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/cmd/ripple/serve"
	"github.com/sumi-ripple/ripple/crawl"
)

// lastRequests are the last requests to each of the hosts that were requested last. Its methods may
// be called from any goroutine. The zero value is empty.
type lastRequests struct {
	mu     sync.Mutex
	byName map[string]*list.Element // of strips
	strips list.List                // of *strip, those requested last in front
}

// A strip is the last requests to one host.
type strip struct {
	host string
	last []crawl.Request // a ring buffer once it is full
	n    int             // number of requests added
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
	if len(s.last) < serve.KeptRequests {
		s.last = append(s.last, r)
	} else {
		s.last[s.n%serve.KeptRequests] = r
	}
	s.n++
}

// begin creates the strip of a host. If there are too many, it drops that of the host with the
// oldest last request.
func (l *lastRequests) begin(host string) *list.Element {
	if l.byName == nil {
		l.byName = map[string]*list.Element{}
	}
	if last := l.strips.Back(); last != nil && len(l.byName) >= serve.KeptHosts {
		delete(l.byName, l.strips.Remove(last).(*strip).host)
	}
	e := l.strips.PushFront(&strip{host: host})
	l.byName[host] = e
	return e
}

// of returns the last requests to a host.
func (l *lastRequests) of(host string) answer.RequestList {
	l.mu.Lock()
	defer l.mu.Unlock()
	found := answer.RequestList{Domain: host, Requests: []answer.Request{}}
	e := l.byName[host]
	if e == nil {
		return found
	}
	s := e.Value.(*strip)
	for i := range s.last {
		r := s.last[(s.n-1-i)%len(s.last)]
		found.Requests = append(found.Requests, answer.Request{
			URL: r.URL, Kind: r.Kind, At: r.At.UTC(),
			GapMS: r.Gap.Milliseconds(), PromisedMS: r.Promised.Milliseconds(),
			Status: r.Status, ResponseMS: r.Time.Milliseconds(), Error: r.Error,
		})
	}
	return found
}
