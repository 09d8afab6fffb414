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
	soon       = 5 * time.Second // time limit of the requests in a beat
	farewell   = 5 * time.Second // time limit for telling streams the last state when the desk ends
	maxOwed    = 10              // beats in which the last visits of a crawl are requested
	maxTold    = 50              // visits sent per second
	backlog    = 8               // events that a stream may be behind before it is dropped
)

// Live is the current activity, as sent to streams. Its methods may be called from any goroutine.
type Live interface {
	// Status returns the data of a status event, and whether visits may follow.
	Status(context.Context) (status any, runs bool, err error)
	// Feed returns visits after a cursor, which may be [feed.Newest].
	Feed(ctx context.Context, since uint64) (*feed.Batch, error)
	// Last returns the last of them, at most most.
	Last(ctx context.Context, since, most uint64) (*feed.Batch, error)
}

// events are the streams of server-sent events
// (https://html.spec.whatwg.org/multipage/server-sent-events.html). Every second, each stream is
// sent
//
//	event: status    what the crawl is doing
//	event: visits    {"visits": [...], "omitted": N}, if there are any; id: is the cursor after them
//	event: ended     the status, once, when the crawl is over
//
// A stream that reconnects with the last id that it saw gets every visit after it, each once,
// unless the crawl is over and holds only the last visits. If there are more than 50 in a second,
// only the last are sent, with the number of those left out: more than a person can read is not
// worth slowing a crawl for, and programs have the feed. One request per second serves all streams.
// A stream that takes its events too slowly is dropped, and reconnects. When the desk ends, all
// streams are sent the last events, including those that have not caught up.
type events struct {
	live  Live
	seats chan struct{} // one element for each stream
	join  chan *stream
	leave chan *stream
	ended chan struct{} // closed when no more events are sent
}

// A stream is one client. It has all visits up to its cursor.
type stream struct {
	cursor uint64
	told   chan []byte // closed by the sender when the stream is dropped
}

func newEvents(live Live) *events {
	return &events{live: live, seats: make(chan struct{}, maxStreams), join: make(chan *stream),
		leave: make(chan *stream), ended: make(chan struct{})}
}

func (e *events) route() Route {
	return Route{
		Name: "events", Method: http.MethodGet, Path: "events", Handler: e, Media: "text/event-stream",
		Doc: "Server-sent events each second: status, visits (their id is a cursor), " +
			"and ended when the crawl is over. With Last-Event-ID, every visit after it is sent, each once. " +
			"At most 16 at a time; slow ones are dropped.",
	}
}

// follow sends events to the streams until ctx is done, and then once more. It must be called only
// once.
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
			tick.Reset(beat) // streams that wait to join or leave come first
		case <-ctx.Done():
			t.dismiss(farewell)
			return
		}
	}
}

// A teller sends the events to all streams.
type teller struct {
	live    Live
	streams map[*stream]bool
	owed    int // beats in which the end of a crawl may still be sent; 0: no running crawl was reported
	behind  int // beats in which a new stream may miss visits that were made while it joined; 0: none does
}

// tell sends all streams what is new. For them a crawl has ended when they have its last visits, or
// when these have been unavailable for long.
func (t *teller) tell(ctx context.Context) {
	if len(t.streams) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, soon)
	defer cancel()
	status, runs, err := t.live.Status(ctx)
	if err != nil {
		return // it is sent when the crawl can be reached
	}
	from := uint64(feed.Newest)
	for s := range t.streams {
		from = min(from, s.cursor)
	}
	var b *feed.Batch
	if runs || t.owed > 0 || t.behind > 0 {
		if b, err = t.last(ctx, from); ofAnother(err) { // what is unavailable now is sent with the next batch
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

// last returns the last visits after a cursor; nil: they are unavailable.
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

// send sends all streams the current status, after the visits of a batch, which was read after the
// smallest of their cursors; nil: there are none.
func (t *teller) send(now []byte, b *feed.Batch, from uint64) {
	var shared []byte // for streams at the same cursor, which nearly all are
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

// dismiss sends the streams the last events, if that is possible in time, and ends them.
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

// ofAnother reports whether cursors are refused because they are of another terrain. A client that
// reconnects with one gets that error.
func ofAnother(err error) bool {
	var e *control.Error
	return errors.As(err, &e) && e.Code == http.StatusBadRequest
}

// visits returns the event for the visits of a batch.
func visits(b *feed.Batch) []byte {
	return event("visits", b.Next, map[string]any{"visits": b.Lines, "omitted": b.Omitted})
}

// event formats an event. With id 0, the id of the previous event stays valid.
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

// ServeHTTP sends a stream. It starts with what the client has missed.
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

// catchUp sends a stream what its client has missed, from a batch on. It reports whether that was
// everything.
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

// over reports whether no more events are sent.
func (e *events) over() bool {
	select {
	case <-e.ended:
		return true
	default:
		return false
	}
}

// joins adds a stream. It reports whether events are still sent and the client is still connected.
func (e *events) joins(ctx context.Context, s *stream) bool {
	select {
	case e.join <- s:
		return true
	case <-e.ended:
	case <-ctx.Done():
	}
	return false
}

// send sends a stream its events until the client disconnects or the stream is dropped. If the desk
// ends, events queued before are still sent.
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

// part sends the last events to a stream that had not joined when the desk ended, while the server
// waits for it.
func (e *events) part(w http.ResponseWriter, out *http.ResponseController, s *stream) {
	t := teller{live: e.live, streams: map[*stream]bool{s: true}, owed: 1}
	t.dismiss(parting)
	for text := range s.told {
		if _, err := w.Write(text); err != nil || out.Flush() != nil {
			return
		}
	}
}

// quit removes a stream. It reports whether events are still sent.
func (e *events) quit(s *stream) bool {
	select {
	case e.leave <- s:
		return true
	case <-e.ended:
		return false
	}
}
