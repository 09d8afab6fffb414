package desk

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/export/feed"
	"github.com/sumi-ripple/ripple/schema/config"
)

// An endlessLive has endless visits, 1 MB each.
type endlessLive struct{ fakeLive }

func (e *endlessLive) Feed(_ context.Context, since uint64) (*feed.Batch, error) {
	line := fmt.Appendf(nil, `{"cursor":%d,"title":%q}`, since+1, strings.Repeat("x", 1<<20))
	return &feed.Batch{Lines: []json.RawMessage{line}, Next: since + 1, More: true}, nil
}

// until waits until a condition holds.
func (s *served) until(what string, holds func() bool) {
	s.t.Helper()
	for end := time.Now().Add(2 * time.Minute); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("waited in vain until %s", what)
		}
	}
}

// opened returns the number of connections.
func (s *served) opened() int {
	s.listener.mu.Lock()
	defer s.listener.mu.Unlock()
	return len(s.listener.open)
}

// A thousand connections, in any state, keep no client from being served.
func TestThousandConnections(t *testing.T) {
	for name, sent := range map[string]string{
		"silent":        "",
		"in the middle": "GET / HTTP/1.1\r\nHost: local",
		"idle":          "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"refused":       "GET /api/v1/now HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"with a body":   "POST /api/v1/change HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{",
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, config.Monitor{})
			stream := s.open("GET", "/api/v1/events", "")
			defer stream.Body.Close()
			s.crowded(sent)
			s.over = &http.Transport{DisableKeepAlives: true}
			for range 10 {
				if code, _, _ := s.ask("GET", "/api/v1/now", ""); code != http.StatusOK {
					t.Errorf("beside them: %d", code)
				}
			}
			if n := s.opened(); n > maxConnections {
				t.Errorf("%d connections are open", n)
			}
			if n, err := stream.Body.Read(make([]byte, 10)); n == 0 {
				t.Errorf("whoever was being answered was sent away: %v", err)
			}
		})
	}
}

// crowded opens a thousand connections, which stay open until the test ends.
func (s *served) crowded(sent string) {
	s.t.Helper()
	for i := range 1000 {
		c, err := net.Dial("tcp", s.host)
		if err != nil {
			if i < 2*maxConnections {
				s.t.Fatal(err)
			}
			return // this system allows no more
		}
		s.t.Cleanup(func() { c.Close() })
		_, _ = io.WriteString(c, sent)
	}
}

// If there is no room, the connection that is missed least is closed.
func TestLeastMissed(t *testing.T) {
	const fresh, busy, idle = http.StateNew, http.StateActive, http.StateIdle
	tests := []struct {
		name string
		open []connection // in the order of their changes of state
		want int          // -1: none
	}{
		{"nobody is there", nil, -1},
		{"all who have the token are answered", []connection{{state: busy, proven: true}, {state: busy, proven: true}}, -1},
		{"the idle go first", []connection{{state: busy}, {state: fresh}, {state: idle}, {state: idle}}, 2},
		{"then the new", []connection{{state: busy}, {state: fresh}, {state: fresh}}, 1},
		{"then the busy", []connection{{state: idle, proven: true}, {state: busy}, {state: busy}}, 1},
		{"then the idle who have the token", []connection{{state: busy, proven: true}, {state: idle, proven: true}}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newConnections(nil, len(tt.open))
			var all []*connection
			for i := range tt.open {
				one := &tt.open[i]
				one.since = uint64(i)
				c.open[one] = true
				all = append(all, one)
			}
			got := c.leastMissed()
			if tt.want < 0 && got != nil || tt.want >= 0 && got != all[tt.want] {
				t.Errorf("%+v goes", got)
			}
		})
	}
}

// If all clients with the token are being answered, one more is sent away, and is admitted when one
// of them has left.
func TestNoRoom(t *testing.T) {
	s := serveWith(t, config.Monitor{}, &fakeLive{}, func(d *Desk) { d.listener.most = 2 })
	s.over = &http.Transport{DisableKeepAlives: true}
	first, second := s.open("GET", "/api/v1/events", ""), s.open("GET", "/api/v1/events", "")
	defer first.Body.Close()
	c, err := net.Dial("tcp", s.host)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := c.Read(make([]byte, 1)); err == nil {
		t.Errorf("one too many is sent %d bytes", n)
	}
	c.Close()
	second.Body.Close()
	s.until("there is room", func() bool { return s.opened() < 2 })
	if code, _, _ := s.ask("GET", "/api/v1/now", ""); code != http.StatusOK {
		t.Errorf("when there is room: %d", code)
	}
}

// There are sixteen streams. One more is refused, and is admitted when one has left.
func TestSeventeenStreams(t *testing.T) {
	s := serve(t, config.Monitor{})
	var streams []*http.Response
	for i := range maxStreams + 1 {
		a := s.open("GET", "/api/v1/events", "")
		defer a.Body.Close()
		want := http.StatusOK
		if i == maxStreams {
			want = http.StatusServiceUnavailable
		}
		if a.StatusCode != want {
			t.Errorf("stream %d: %s", i, a.Status)
		}
		streams = append(streams, a)
	}
	text, err := io.ReadAll(streams[maxStreams].Body)
	if err != nil || !strings.Contains(string(text), "16 streams already") {
		t.Errorf("the last is told %s, %v", text, err)
	}
	streams[3].Body.Close()
	s.until("a stream has ended", func() bool { return len(s.events.seats) < maxStreams })
	a := s.open("GET", "/api/v1/events", "")
	defer a.Body.Close()
	if a.StatusCode != http.StatusOK {
		t.Errorf("when one has left: %s", a.Status)
	}
}
