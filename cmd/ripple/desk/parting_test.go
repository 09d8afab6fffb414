package desk

import (
	"bufio"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/export/feed"
	"github.com/sumi-ripple/ripple/schema/config"
)

// followed runs f while streams that begin at cursors are sent events. It returns what each of them
// got; all have ended.
func followed(t *testing.T, live Live, cursors []uint64, f func()) []*audience {
	t.Helper()
	e := newEvents(live)
	ctx, cancel := context.WithCancel(t.Context())
	var g errgroup.Group
	g.Go(func() error { e.follow(ctx); return nil })
	all := make([]*audience, len(cursors))
	for i, cursor := range cursors {
		s := &stream{cursor: cursor, told: make(chan []byte, backlog)}
		all[i] = &audience{}
		g.Go(func() error {
			for text := range s.told {
				all[i].read(bufio.NewScanner(strings.NewReader(string(text))), func() bool { return false })
			}
			return nil
		})
		e.join <- s
	}
	f()
	cancel()
	if err := g.Wait(); err != nil {
		t.Error(err)
	}
	return all
}

// Events between the last beat and the end of the desk reach every stream.
func TestStreamsAreToldTheLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		live := &fakeLive{runs: true, last: 3}
		all := followed(t, live, []uint64{0, 2}, func() {
			time.Sleep(beat * 3 / 2)
			live.set(20, false)
		})
		for i, a := range all {
			if n := 20 - 2*i; len(a.cursors) != n || a.id != "20" || a.names[len(a.names)-1] != "ended" {
				t.Errorf("stream %d was told the visits %v until %s, in %v", i, a.cursors, a.id, a.names)
			}
		}
	})
}

// The last visits of a crawl that ended while a stream joined reach it, even if they are
// unavailable at first.
func TestEndedWhileItCame(t *testing.T) {
	for name, fails := range map[string]int{"at once": 0, "later": 3} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				live := &fakeLive{last: 9, fails: fails}
				a := followed(t, live, []uint64{4}, func() { time.Sleep(beat * (maxOwed + 3) / 2) })[0]
				if len(a.cursors) != 5 || a.id != "9" {
					t.Errorf("it was told the visits %v until %s", a.cursors, a.id)
				}
			})
		})
	}
}

// The end of a crawl is sent after its last visits, or when these have been unavailable for long.
func TestEndedAfterTheLast(t *testing.T) {
	for name, fails := range map[string]int{"at once": 0, "later": 3, "never": 99} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				live := &fakeLive{runs: true, last: 3}
				a := followed(t, live, []uint64{0}, func() {
					time.Sleep(beat * 3 / 2)
					live.set(5, false)
					live.mu.Lock()
					live.fails = fails
					live.mu.Unlock()
					time.Sleep(beat * (maxOwed + 3))
				})[0]
				ends, visits := 0, 0
				for _, name := range a.names {
					switch {
					case name == "ended":
						ends++
					case name == "visits" && ends == 0:
						visits++
					}
				}
				if ends != 1 || visits != 2 && fails < maxOwed || visits != 1 && fails > maxOwed {
					t.Errorf("after %d events with visits it ended %d times: %v", visits, ends, a.names)
				}
			})
		})
	}
}

// Streams with cursors of a terrain that was created again are ended, so that they start again.
func TestBegunAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		live := &fakeLive{runs: true, last: 9}
		followed(t, live, []uint64{9, 9}, func() {
			live.set(2, true)
			time.Sleep(2 * beat)
			live.set(90, true)
			time.Sleep(2 * beat)
			if live.asked > 0 {
				t.Errorf("%d questions for streams that are gone", live.asked)
			}
		})
	})
}

// A client that reads a stream when the desk ends can read it to its end.
func TestReadToItsEnd(t *testing.T) {
	live := &fakeLive{runs: true, last: 3}
	ctx, cancel := context.WithCancel(t.Context())
	s := serveUntil(t, ctx, listening(t, config.Monitor{}, live))
	answer := s.open("GET", "/api/v1/events", "", "Last-Event-ID", "0")
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Fatal(answer.Status)
	}
	a, lines := &audience{}, bufio.NewScanner(answer.Body)
	// What it had missed, and the status, come beat by beat.
	a.read(lines, func() bool { return len(a.names) > 1 })
	live.set(30, true)
	cancel()
	a.read(lines, func() bool { return false })
	if len(a.cursors) != 30 || a.cursors[29] != 30 || lines.Err() != nil {
		t.Errorf("it was told the visits %v, and then %v", a.cursors, lines.Err())
	}
}

// Events queued before the desk ended are sent, in either order of ending.
func TestSentToItsEnd(t *testing.T) {
	for range 20 {
		e, s := newEvents(&fakeLive{}), &stream{told: make(chan []byte, backlog)}
		for range backlog {
			s.told <- []byte(".")
		}
		close(s.told)
		close(e.ended)
		w := httptest.NewRecorder()
		e.send(endedContext(t), w, http.NewResponseController(w), s)
		if w.Body.Len() != backlog {
			t.Fatalf("of %d events %d were sent", backlog, w.Body.Len())
		}
	}
}

// A brokenLive returns nothing after the first batch except the last visits.
type brokenLive struct{ fakeLive }

func (b *brokenLive) Feed(ctx context.Context, since uint64) (*feed.Batch, error) {
	if since > 0 {
		return nil, context.Canceled
	}
	return b.fakeLive.Feed(ctx, since)
}

// A stream that is still catching up when the desk ends gets the last visits, the number of those
// left out, and the end.
func TestCatchingUpAtTheEnd(t *testing.T) {
	tests := []struct {
		name    string
		live    Live
		ctx     context.Context
		told    int
		omitted string
	}{
		{"between two batches", &fakeLive{last: 100}, t.Context(), 7 + maxTold, `"omitted":43,`},
		{"within one", &brokenLive{fakeLive{last: 100}}, endedContext(t), 7 + maxTold, `"omitted":43,`},
		{"behind the last", &fakeLive{last: 7}, endedContext(t), 7, `"omitted":0,`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e, w, a := newEvents(tt.live), httptest.NewRecorder(), &audience{}
			close(e.ended)
			r := httptest.NewRequestWithContext(tt.ctx, http.MethodGet, "/", nil)
			r.Header.Set("Last-Event-ID", "0")
			e.ServeHTTP(w, r)
			if !strings.Contains(w.Body.String(), tt.omitted) {
				t.Errorf("%s is not said", tt.omitted)
			}
			a.read(bufio.NewScanner(w.Body), func() bool { return false })
			if len(a.cursors) != tt.told || a.names[len(a.names)-1] != "ended" {
				t.Errorf("it was told the visits %v in %v", a.cursors, a.names)
			}
		})
	}
}

func endedContext(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}
