package desk

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/sumi-ripple/ripple/crawl/control"
	"github.com/sumi-ripple/ripple/export/feed"
	"github.com/sumi-ripple/ripple/schema/inert"
)

const (
	maxStreams = 16
	beat       = time.Second
	maxTold    = 50 // visits that are told in a second
	backlog    = 8  // events that a stream may be behind; then it is dropped
)

// Live is what goes on now, as streams are told it. Its methods may be called from any
// goroutine.
type Live interface {
	// Status returns what becomes the data of an event, and whether visits may come.
	Status(context.Context) (status any, runs bool, err error)
	// Feed returns visits after a cursor, [feed.Newest] among them.
	Feed(ctx context.Context, since uint64) (*feed.Batch, error)
	// Last returns those of so many of them that came last.
	Last(ctx context.Context, since, most uint64) (*feed.Batch, error)
}

// events are the streams of server-sent events
// (https://html.spec.whatwg.org/multipage/server-sent-events.html). Every second each is
// told
//
//	event: status    what the crawl does
//	event: visits    {"visits": [...], "omitted": N}, if there are any; id: is the cursor after them
//	event: ended     the status, once, when the crawl is over
//
// A stream that comes back with the id that it saw last gets every visit after it, each
// once. Where more than 50 come in a second only the last are told, and how many were left
// out: what a person cannot read is not worth slowing a crawl for, and programs have the
// feed. All streams are told from one question a second; one that takes its events too
// slowly is dropped, and comes back.
type events struct {
	live  Live
	seats chan struct{} // holds one for each stream
	join  chan *stream
	leave chan *stream
	ended chan struct{} // closed when nobody tells any more
}

// A stream is one reader, which knows all visits up to its cursor.
type stream struct {
	cursor uint64
	told   chan []byte // closed by who tells, when it is dropped
}

func newEvents(live Live) *events {
	return &events{live: live, seats: make(chan struct{}, maxStreams), join: make(chan *stream),
		leave: make(chan *stream), ended: make(chan struct{})}
}

func (e *events) route() Route {
	return Route{
		Name: "events", Method: http.MethodGet, Path: "events", Handler: e, Media: "text/event-stream",
		Doc: "Server-sent events each second: status, visits (their id is a cursor), and ended when the crawl is over. " +
			"With Last-Event-ID every visit after it comes, each once. At most 16 at a time; slow ones are dropped.",
	}
}

// follow tells the streams until ctx is done. It is called once.
func (e *events) follow(ctx context.Context) {
	defer close(e.ended)
	streams := map[*stream]bool{}
	tick := time.NewTicker(beat)
	defer tick.Stop()
	running := false
	for {
		select {
		case s := <-e.join:
			streams[s] = true
		case s := <-e.leave:
			delete(streams, s)
		case <-tick.C:
			if len(streams) > 0 {
				running = e.tell(ctx, streams, running)
			}
		case <-ctx.Done():
			for s := range streams {
				close(s.told)
			}
			return
		}
	}
}

// tell tells all streams what is new. It reports whether a crawl runs.
func (e *events) tell(ctx context.Context, streams map[*stream]bool, ran bool) (runs bool) {
	status, runs, err := e.live.Status(ctx)
	if err != nil {
		return ran // it will be told when it can be asked
	}
	from := uint64(feed.Newest)
	for s := range streams {
		from = min(from, s.cursor)
	}
	var b *feed.Batch
	if runs || ran {
		b, _ = e.live.Last(ctx, from, maxTold) // what cannot be had now comes with the next
	}
	now := event("status", 0, status)
	if ran && !runs {
		now = append(now, event("ended", 0, status)...)
	}
	var shared []byte // for those at the same cursor, which are nearly all
	for s := range streams {
		text := now
		if b != nil && b.Next > s.cursor {
			news := shared
			if s.cursor != from || news == nil {
				news = visits(b, s.cursor)
			}
			if s.cursor == from {
				shared = news
			}
			text = append(bytes.Clone(news), now...)
			s.cursor = b.Next
		}
		select {
		case s.told <- text:
		default:
			delete(streams, s)
			close(s.told)
		}
	}
	return runs
}

// visits is the event of the visits of a batch that come after a cursor.
func visits(b *feed.Batch, after uint64) []byte {
	lines := []json.RawMessage{}
	for _, line := range b.Lines {
		var at struct {
			Cursor uint64 `json:"cursor"`
		}
		if json.Unmarshal(line, &at) == nil && at.Cursor > after {
			lines = append(lines, line)
		}
	}
	return event("visits", b.Next, map[string]any{"visits": lines, "omitted": b.Omitted})
}

// event is an event as it is sent; an id of 0 leaves that of the event before.
func event(name string, id uint64, v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "event: %s\n", name)
	if id > 0 {
		fmt.Fprintf(&b, "id: %d\n", id)
	}
	fmt.Fprintf(&b, "data: %s\n\n", inert.JSON(data))
	return b.Bytes()
}

// ServeHTTP sends a stream, first what its reader has missed.
func (e *events) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	select {
	case e.seats <- struct{}{}:
		defer func() { <-e.seats }()
	default:
		Refuse(w, &control.Error{Code: http.StatusServiceUnavailable,
			Text: "there are " + strconv.Itoa(maxStreams) + " streams already; close one"})
		return
	}
	cursor := uint64(feed.Newest)
	if last := r.Header.Get("Last-Event-ID"); last != "" {
		var err error
		if cursor, err = strconv.ParseUint(last, 10, 64); err != nil {
			Refuse(w, wrong("Last-Event-ID is no cursor"))
			return
		}
	}
	b, err := e.live.Feed(r.Context(), cursor)
	if err != nil {
		Refuse(w, &control.Error{Code: http.StatusServiceUnavailable, Text: err.Error()})
		return
	}
	out := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	s := &stream{cursor: cursor, told: make(chan []byte, backlog)}
	if cursor == feed.Newest {
		s.cursor = b.Next
	}
	for more := true; more; {
		_, err := w.Write(visits(b, s.cursor))
		if err == nil {
			err = out.Flush()
		}
		if more = b.More; err == nil && more {
			s.cursor = b.Next
			b, err = e.live.Feed(r.Context(), s.cursor)
		}
		if err != nil {
			return
		}
	}
	s.cursor = b.Next
	e.send(r.Context(), w, out, s)
}

// send sends what a stream is told until its reader goes, or it is dropped.
func (e *events) send(ctx context.Context, w http.ResponseWriter, out *http.ResponseController, s *stream) {
	select {
	case e.join <- s:
	case <-e.ended:
		return
	}
	for {
		select {
		case text, ok := <-s.told:
			if !ok {
				return
			}
			if _, err := w.Write(text); err != nil || out.Flush() != nil {
				e.quit(s)
				return
			}
		case <-ctx.Done():
			e.quit(s)
			return
		}
	}
}

func (e *events) quit(s *stream) {
	select {
	case e.leave <- s:
	case <-e.ended:
	}
}
