package proof

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl/webtest"
)

// A pulse beats every 5 ms and records when it was late: on a busy machine, a server is delayed as
// much, and then sees clients come and go too late.
type pulse struct {
	mu   sync.Mutex
	late []lateBeat
}

type lateBeat struct {
	at time.Time
	by time.Duration
}

func newPulse(t testing.TB) *pulse {
	const every = 5 * time.Millisecond
	p := &pulse{}
	ticker, done, ended := time.NewTicker(every), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for last := time.Now(); ; {
			select {
			case <-done:
				return
			case <-ticker.C:
			}
			now := time.Now()
			if by := now.Sub(last) - every; by > every {
				p.mu.Lock()
				p.late = append(p.late, lateBeat{now, by})
				p.mu.Unlock()
			}
			last = now
		}
	}()
	t.Cleanup(func() {
		ticker.Stop()
		close(done)
		<-ended
	})
	return p
}

// lateness returns by how much a server may have seen events in a period late: the client, the
// connection and its reader may each have waited as long as the latest beat. On an idle machine it
// is zero.
func (p *pulse) lateness(from, to time.Time) (most time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, b := range p.late {
		if b.at.After(from) && b.at.Add(-b.by).Before(to) {
			most = max(most, b.by)
		}
	}
	return 3 * most
}

// heard returns a server's log from the point of view of a client with a time-out. A busy server
// notices only later that the client has come, and that it is gone, and still answers it: such
// tries end at the time-out, or when they may have. The server is equally late to notice the end of
// an answer that the client has cut off.
func (p *pulse) heard(log []webtest.Entry, timeout time.Duration) []webtest.Entry {
	log = slices.Clone(log)
	for i, e := range log {
		begun := e.FirstByte
		if begun.IsZero() {
			begun = e.Done
		}
		end := e.Arrived.Add(timeout - min(p.lateness(e.Arrived.Add(-time.Second), begun), timeout))
		if !e.FirstByte.IsZero() && !e.FirstByte.After(end) {
			if e.Aborted && !e.Done.IsZero() {
				log[i].Done = latest(e.FirstByte, e.Done.Add(-p.lateness(e.FirstByte, e.Done)))
			}
			continue
		}
		if log[i].Aborted = true; e.Done.After(end) {
			log[i].Done = end
		}
		if !e.FirstByte.IsZero() {
			log[i].FirstByte = end
		}
	}
	return log
}

// On an idle machine the log stays as it is, except for what comes after the time-out. On a busy
// one, tries end earlier, by as much as the machine was late.
func TestHeard(t *testing.T) {
	t.Parallel()
	start := time.Now()
	at := func(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }
	const never, timeout = -1, time.Second
	for _, tt := range []struct {
		name        string
		late        int // by how much beats are late until the answer was done
		first, done int
		aborted     bool
		want        int // when it was done
	}{
		{"answered", 100, 10, 500, false, 500},
		{"cut off", 0, 10, 500, true, 500},
		{"cut off, of a busy machine", 100, 10, 500, true, 200},
		{"cut off, of a very busy machine", 400, 10, 500, true, 10},
		{"reset", 0, never, 500, true, 500},
		{"silent", 0, never, 1200, true, 1000},
		{"silent, of a busy machine", 100, never, 1200, true, 700},
		{"too late", 0, 1100, 1200, false, 1000},
	} {
		p := new(pulse)
		if tt.late > 0 {
			p.late = []lateBeat{{at(tt.done), time.Duration(tt.late) * time.Millisecond}}
		}
		e := webtest.Entry{Arrived: start, Done: at(tt.done), Aborted: tt.aborted}
		if tt.first != never {
			e.FirstByte = at(tt.first)
		}
		if got := p.heard([]webtest.Entry{e}, timeout)[0].Done; !got.Equal(at(tt.want)) {
			t.Errorf("%s: done after %v, want %d ms", tt.name, got.Sub(start), tt.want)
		}
	}
}
