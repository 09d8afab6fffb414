package desk

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/sumi-ripple/ripple/crawl/control"
	"github.com/sumi-ripple/ripple/export/feed"
	"github.com/sumi-ripple/ripple/schema/sanitize"
)

const (
	maxStreams = 16
	beat       = time.Second
	soon       = 5 * time.Second // for what is asked in a beat
	farewell   = 5 * time.Second // for what streams are told when the desk ends
	maxOwed    = 10              // beats in which the last visits of a crawl are asked for
	maxTold    = 50              // visits that are told in a second
	backlog    = 8               // events that a stream may be behind; then it is dropped
)

// Live is what goes on now, as streams are told it. Its methods may be called from any
// goroutine.
type Live interface {
	// Status returns what becomes the data of an event, and whether visits may come.
	Status(context.Context) (status any, runs bool, err error)
	// Feed returns visits after a cursor, [feed.Newest] among them.
	Feed(ctx context.Context, since uint64) (*feed.Batch, error)
	// Last returns the last of them, at most most.
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
// once, unless it is behind a crawl that is over and holds only the last. Where more than
// 50 come in a second only the last are told, and how many were left out: what a person
// cannot read is not worth slowing a crawl for, and programs have the feed. All streams are
// told from one question a second; one that takes its events too slowly is dropped, and
// comes back. When the desk ends all are told what came last, also those that have not
// caught up.
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
		Doc: "Server-sent events each second: status, visits (their id is a cursor), " +
			"and ended when the crawl is over. With Last-Event-ID every visit after it comes, each once. " +
			"At most 16 at a time; slow ones are dropped.",
	}
}

// follow tells the streams until ctx is done, and then once more. It is called once.
func (e *events) follow(ctx context.Context) {
	defer close(e.ended)
	t := teller{live: e.live, streams: map[*stream]bool{}}
	tick := time.NewTicker(beat)
	defer tick.Stop()
	for {
		select {
		case s := <-e.join:
			t.streams[s], t.behind = true, maxOwed
		case s := <-e.leave:
			delete(t.streams, s)
		case <-tick.C:
			t.tell(ctx)
			tick.Reset(beat) // those who waited to come or go are first
		case <-ctx.Done():
			t.dismiss(farewell)
			return
		}
	}
}

// A teller tells all streams together.
type teller struct {
	live    Live
	streams map[*stream]bool
	owed    int // beats in which the end of a crawl may still be told; 0: none was told to run
	behind  int // beats in which a stream that came may miss what came while it did; 0: none does
}

// tell tells all streams what is new. A crawl has ended for them when they have its last
// visits, or these could not be had for long.
func (t *teller) tell(ctx context.Context) {
	if len(t.streams) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, soon)
	defer cancel()
	status, runs, err := t.live.Status(ctx)
	if err != nil {
		return // it will be told when it can be asked
	}
	from := uint64(feed.Newest)
	for s := range t.streams {
		from = min(from, s.cursor)
	}
	var b *feed.Batch
	if runs || t.owed > 0 || t.behind > 0 {
		if b, err = t.last(ctx, from); ofAnother(err) { // what cannot be had now comes with the next
			t.drop()
			return
		}
		if t.behind = max(0, t.behind-1); err == nil {
			t.behind = 0
		}
	}
	now := event("status", 0, status)
	switch {
	case runs:
		t.owed = maxOwed
	case t.owed == 1, t.owed > 0 && err == nil:
		t.owed = 0
		now = append(now, event("ended", 0, status)...)
	case t.owed > 0:
		t.owed--
	}
	t.send(now, b, from)
}

// last returns the last visits after a cursor; nil: they cannot be had.
func (t *teller) last(ctx context.Context, from uint64) (*feed.Batch, error) {
	b, err := t.live.Last(ctx, from, maxTold)
	for err == nil && b.More {
		var further *feed.Batch
		if further, err = t.live.Last(ctx, b.Next, maxTold); err == nil {
			b.Append(from, further)
		}
	}
	if err != nil {
		return nil, err
	}
	return b, nil
}

// send sends all streams what goes on now, behind the visits of a batch, which was read
// after the smallest of their cursors; nil: there are none.
func (t *teller) send(now []byte, b *feed.Batch, from uint64) {
	var shared []byte // for those at the same cursor, which are nearly all
	for s := range t.streams {
		text := now
		if b != nil && b.Next > s.cursor {
			news := shared
			if s.cursor != from || news == nil {
				news = visits(b.After(from, s.cursor))
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
			delete(t.streams, s)
			close(s.told)
		}
	}
}

// dismiss tells the streams what came last, as far as that can be had in time, and ends
// them.
func (t *teller) dismiss(in time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), in)
	defer cancel()
	t.tell(ctx)
	t.drop()
}

// drop ends all streams.
func (t *teller) drop() {
	for s := range t.streams {
		delete(t.streams, s)
		close(s.told)
	}
}

// ofAnother reports whether cursors are refused because they are of another terrain. Who
// comes back with them is told.
func ofAnother(err error) bool {
	var e *control.Error
	return errors.As(err, &e) && e.Code == http.StatusBadRequest
}

// visits is the event of the visits of a batch.
func visits(b *feed.Batch) []byte {
	return event("visits", b.Next, map[string]any{"visits": b.Lines, "omitted": b.Omitted})
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
	fmt.Fprintf(&b, "data: %s\n\n", sanitize.JSON(data))
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
	if ofAnother(err) {
		Refuse(w, err)
		return
	}
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
	switch {
	case e.catchUp(r.Context(), w, out, s, b) && e.joins(r.Context(), s):
		e.send(r.Context(), w, out, s)
	case e.over():
		e.part(w, out, s)
	}
}

// catchUp sends a stream what its reader has missed, from a batch on. It reports whether
// that is all.
func (e *events) catchUp(ctx context.Context, w http.ResponseWriter, out *http.ResponseController, s *stream,
	b *feed.Batch,
) bool {
	for {
		if _, err := w.Write(visits(b)); err != nil || out.Flush() != nil {
			return false
		}
		if s.cursor = b.Next; !b.More || e.over() {
			return !b.More
		}
		var err error
		if b, err = e.live.Feed(ctx, s.cursor); err != nil {
			return false
		}
	}
}

// over reports whether nobody tells any more.
func (e *events) over() bool {
	select {
	case <-e.ended:
		return true
	default:
		return false
	}
}

// joins has a stream be told what goes on. It reports whether somebody tells, and the
// reader is still there.
func (e *events) joins(ctx context.Context, s *stream) bool {
	select {
	case e.join <- s:
		return true
	case <-e.ended:
	case <-ctx.Done():
	}
	return false
}

// send sends what a stream is told until its reader goes, or it is dropped. Where the desk
// ends, what it was told before is sent to its end.
func (e *events) send(ctx context.Context, w http.ResponseWriter, out *http.ResponseController, s *stream) {
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
			if e.quit(s) {
				return
			}
			ctx = context.WithoutCancel(ctx)
		}
	}
}

// part sends a stream that did not join before the desk ended what came last, while the
// server waits for it.
func (e *events) part(w http.ResponseWriter, out *http.ResponseController, s *stream) {
	t := teller{live: e.live, streams: map[*stream]bool{s: true}, owed: 1}
	t.dismiss(parting)
	for text := range s.told {
		if _, err := w.Write(text); err != nil || out.Flush() != nil {
			return
		}
	}
}

// quit has a stream be told nothing any more. It reports whether somebody tells.
func (e *events) quit(s *stream) bool {
	select {
	case e.leave <- s:
		return true
	case <-e.ended:
		return false
	}
}
