package proof

import (
	"sync"
	"testing"
	"time"
)

// A pulse beats every 5 ms and remembers when it was late: what keeps it waiting on a busy
// machine keeps a server waiting, too, which then sees a client come and go too late.
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

// lateness is by how much a server may have seen late what happened in a time: the client,
// the connection and its reader may each have waited as long as the latest beat. On a machine
// that has time it is nothing.
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
