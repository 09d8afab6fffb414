package desk

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/crawl/control"
	"github.com/sumi-ripple/ripple/export/feed"
	"github.com/sumi-ripple/ripple/schema/config"
)

// A fakeLive has visits up to a cursor, and returns a few of them at a time.
type fakeLive struct {
	mu    sync.Mutex
	last  uint64
	runs  bool
	asked int
	err   error
	fails int // number of requests for the last visits that fail
}

func (f *fakeLive) set(last uint64, runs bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last, f.runs = last, runs
}

func (f *fakeLive) Status(context.Context) (any, bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return map[string]any{"runs": f.runs}, f.runs, nil
}

func (f *fakeLive) Feed(_ context.Context, since uint64) (*feed.Batch, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked++
	b := &feed.Batch{Lines: []json.RawMessage{}, Next: since}
	if since == feed.Newest {
		b.Next = f.last
	}
	for b.Next < f.last && len(b.Lines) < 7 {
		b.Next++
		b.Lines = append(b.Lines, fmt.Appendf(nil, `{"cursor":%d}`, b.Next))
	}
	b.More = b.Next < f.last
	return b, f.err
}

func (f *fakeLive) Last(ctx context.Context, since, most uint64) (*feed.Batch, error) {
	f.mu.Lock()
	last, fails := f.last, f.fails > 0
	f.fails--
	f.mu.Unlock()
	if fails {
		return nil, errors.New("not now")
	}
	if since > last {
		return nil, &control.Error{Code: http.StatusBadRequest, Text: "beyond the last"}
	}
	omitted := uint64(0)
	if last > since+most {
		omitted = last - most - since
	}
	b := &feed.Batch{Lines: []json.RawMessage{}, Next: since + omitted, Omitted: omitted}
	for more := true; more; {
		further, err := f.Feed(ctx, b.Next)
		if err != nil {
			return nil, err
		}
		b.Lines, b.Next, more = append(b.Lines, further.Lines...), further.Next, further.More
	}
	return b, nil
}

// An audience reads a stream, and remembers its place.
type audience struct {
	id      string
	cursors []uint64
	names   []string
}

// read reads events until a function says that it is enough, or the stream ends.
func (a *audience) read(lines *bufio.Scanner, enough func() bool) {
	name := ""
	for !enough() && lines.Scan() {
		key, value, _ := strings.Cut(lines.Text(), ": ")
		switch key {
		case "event":
			name = value
			a.names = append(a.names, value)
		case "id":
			a.id = value
		case "data":
			var v struct {
				Visits []struct{ Cursor uint64 }
			}
			if json.Unmarshal([]byte(value), &v) == nil && name == "visits" {
				for _, visit := range v.Visits {
					a.cursors = append(a.cursors, visit.Cursor)
				}
			}
		}
	}
}

// A client that reconnects with the last id misses nothing and gets nothing twice.
func TestEventsWithoutGap(t *testing.T) {
	live := &fakeLive{runs: true, last: 30}
	s := serveLive(t, live)
	a := &audience{id: "0"}
	for round := range 4 {
		ctx, cancel := context.WithCancel(t.Context())
		r, err := http.NewRequestWithContext(ctx, "GET", "http://"+s.host+"/api/v1/events", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+testToken)
		r.Header.Set("Last-Event-ID", a.id)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if got := answer.Header.Get("Content-Type"); got != "text/event-stream" {
			t.Fatalf("it is %s", got)
		}
		a.read(bufio.NewScanner(answer.Body), func() bool { return len(a.cursors) >= 30*(round+1) })
		cancel()
		answer.Body.Close()
		live.set(uint64(30*(round+2)), true)
	}
	for i, cursor := range a.cursors {
		if cursor != uint64(i+1) {
			t.Fatalf("visit %d comes in place %d of %d", cursor, i, len(a.cursors))
		}
	}
}

func serveLive(t *testing.T, live Live) *served {
	t.Helper()
	return serveWith(t, config.Monitor{}, live)
}

// One request a second serves all streams, wherever they begin.
func TestEventsShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		live := &fakeLive{runs: true, last: 10}
		e := newEvents(live)
		ctx, cancel := context.WithCancel(t.Context())
		var g errgroup.Group
		g.Go(func() error { e.follow(ctx); return nil })
		var all []*stream
		for i := range maxStreams {
			s := &stream{cursor: uint64(i % 4), told: make(chan []byte, backlog)}
			e.join <- s
			all = append(all, s)
		}
		time.Sleep(beat * 7 / 2)
		synctest.Wait()
		if live.asked != 4 { // two for the ten visits, which come seven at a time
			t.Errorf("%d questions in three seconds", live.asked)
		}
		for i, s := range all {
			a := &audience{}
			for len(s.told) > 0 {
				a.read(bufio.NewScanner(strings.NewReader(string(<-s.told))), func() bool { return false })
			}
			if len(a.cursors) != 10-i%4 || a.cursors[0] != uint64(i%4+1) || a.id != "10" {
				t.Errorf("stream %d, which knew %d, was told %v until %s", i, i%4, a.cursors, a.id)
			}
		}
		cancel()
		if err := g.Wait(); err != nil {
			t.Error(err)
		}
	})
}

// A stream that does not read is dropped, and the others continue. The end of the crawl is sent
// once.
func TestEventsSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		live := &fakeLive{runs: true}
		e := newEvents(live)
		ctx, cancel := context.WithCancel(t.Context())
		var g errgroup.Group
		g.Go(func() error { e.follow(ctx); return nil })
		slow, quick := &stream{told: make(chan []byte, backlog)}, &stream{told: make(chan []byte, backlog)}
		e.join <- slow
		e.join <- quick
		a := &audience{}
		g.Go(func() error {
			for text := range quick.told {
				a.read(bufio.NewScanner(strings.NewReader(string(text))), func() bool { return false })
			}
			return nil
		})
		time.Sleep(beat * (backlog + 2))
		live.set(3, false)
		time.Sleep(3 * beat)
		synctest.Wait()
		told := 0
		for range slow.told {
			told++
		}
		if told != backlog {
			t.Errorf("the slow stream was told %d times before it was dropped, want %d", told, backlog)
		}
		cancel()
		if err := g.Wait(); err != nil {
			t.Error(err)
		}
		ends := 0
		for _, name := range a.names {
			if name == "ended" {
				ends++
			}
		}
		if ends != 1 || len(a.cursors) != 3 {
			t.Errorf("the quick stream was told of %d ends and of the visits %v", ends, a.cursors)
		}
	})
}

// A muteLive never answers.
type muteLive struct{ fakeLive }

func (m *muteLive) Status(ctx context.Context) (any, bool, error) {
	<-ctx.Done()
	return nil, false, ctx.Err()
}

// A crawl that does not answer does not keep streams from joining and leaving for long.
func TestEventsOfASilentCrawl(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEvents(&muteLive{})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var g errgroup.Group
		g.Go(func() error { e.follow(ctx); return nil })
		s := &stream{told: make(chan []byte, backlog)}
		e.join <- s
		time.Sleep(beat + 1) // a request is under way
		select {
		case e.leave <- s:
		case <-time.After(soon):
			t.Errorf("nobody could go within %s", soon)
		}
		cancel()
		if err := g.Wait(); err != nil {
			t.Error(err)
		}
	})
}

// A client that disconnects before its stream gets anything frees its seat.
func TestEventsLeftAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, left := newEvents(&fakeLive{}), make(chan struct{})
		go func() {
			defer close(left)
			r := httptest.NewRequestWithContext(endedContext(t), http.MethodGet, "/", nil)
			e.ServeHTTP(httptest.NewRecorder(), r)
		}()
		synctest.Wait()
		if len(e.seats) != 0 {
			t.Error("it has its seat still")
			close(e.ended)
		}
		<-left
	})
}

func TestEventsRefused(t *testing.T) {
	live := &fakeLive{}
	s := serveLive(t, live)
	if code, text, _ := s.ask("GET", "/api/v1/events", "", "Last-Event-ID", "x"); code != 400 {
		t.Errorf("an odd cursor: %d %s", code, text)
	}
	live.err = errors.New("not now")
	if code, text, _ := s.ask("GET", "/api/v1/events", ""); code != 503 {
		t.Errorf("when nothing can be asked: %d %s", code, text)
	}
	live.err = &control.Error{Code: http.StatusBadRequest, Text: "beyond the last"}
	if code, text, _ := s.ask("GET", "/api/v1/events", "", "Last-Event-ID", "9"); code != 400 {
		t.Errorf("a cursor of another terrain: %d %s", code, text)
	}
	live.err = nil
	for range maxStreams {
		s.events.seats <- struct{}{}
	}
	if code, text, _ := s.ask("GET", "/api/v1/events", ""); code != 503 || !strings.Contains(text, "16 streams") {
		t.Errorf("the 17th stream: %d %s", code, text)
	}
}
