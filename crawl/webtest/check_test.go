package webtest

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl/webtest/fault"
)

// at returns a request to a.test that arrives after ms milliseconds, is answered with the status 10 ms
// later and done 20 ms later.
func at(ms int, path string, status int) Entry {
	arrived := time.Unix(1_700_000_000, 0).Add(time.Duration(ms) * time.Millisecond)
	return Entry{
		Host: "a.test", Method: "GET", Path: path, Status: status, Arrived: arrived,
		FirstByte: arrived.Add(10 * time.Millisecond), Done: arrived.Add(20 * time.Millisecond),
	}
}

func (e Entry) host(name string) Entry { e.Host = name; return e }

func (e Entry) unanswered() Entry { e.FirstByte = time.Time{}; return e }

func (e Entry) lasting(ms int) Entry {
	e.Done = e.Arrived.Add(time.Duration(ms) * time.Millisecond)
	return e
}

func TestCheckLog(t *testing.T) {
	gap := MinGap(100*time.Millisecond, 5*time.Millisecond)
	one := MaxOpen(1, time.Millisecond)
	start := at(0, "", 0).Arrived
	for _, tt := range []struct {
		name    string
		rule    Rule
		entries []Entry
		want    []string // part of each violation
	}{
		{"no entries", gap, nil, nil},
		{"gap kept", gap, []Entry{at(0, "/1", 200), at(106, "/2", 200)}, nil},
		{"gap broken", gap, []Entry{at(0, "/1", 200), at(104, "/2", 200)}, []string{"a.test: GET /2"}},
		{"out of order", gap, []Entry{at(104, "/2", 200), at(0, "/1", 200)}, []string{"GET /2"}},
		{"other host", gap, []Entry{at(0, "/1", 200), at(1, "/2", 200).host("b.test")}, nil},
		{"other port", gap, []Entry{at(0, "/1", 200), at(1, "/2", 200).host("a.test:81")}, nil},
		{"www. is one host", gap, []Entry{at(0, "/1", 200), at(1, "/2", 200).host("www.a.test")}, []string{"GET /2"}},
		{"failed try", gap, []Entry{at(0, "/1", 0).unanswered(), at(111, "/2", 200)}, []string{"GET /2"}},
		{"failed connection", gap, []Entry{{Host: "a.test", Arrived: start, Done: start}, at(90, "/2", 200)},
			[]string{"GET /2"}},
		{"one open", one, []Entry{at(0, "/1", 200), at(20, "/2", 200)}, nil},
		{"two open", one, []Entry{at(0, "/1", 200), at(18, "/2", 200)}, []string{"GET /2"}},
		{"long and two short", one, []Entry{at(0, "/1", 200).lasting(500), at(100, "/2", 200), at(200, "/3", 200)},
			[]string{"/2", "/3"}},
		{"two allowed", MaxOpen(2, 0), []Entry{at(0, "/1", 200).lasting(500), at(100, "/2", 200), at(200, "/3", 200)},
			nil},
		{"robots first", RobotsFirst(), []Entry{at(0, "/robots.txt", 200), at(50, "/", 200)}, nil},
		{"robots missing", RobotsFirst(), []Entry{at(0, "/", 200)}, []string{"GET /"}},
		{"robots 404", RobotsFirst(), []Entry{at(0, "/robots.txt", 404), at(50, "/", 200)}, nil},
		{"robots late", RobotsFirst(), []Entry{at(0, "/", 200), at(50, "/robots.txt", 200)}, []string{"GET /"}},
		{"robots not yet answered", RobotsFirst(), []Entry{at(0, "/robots.txt", 200), at(5, "/", 200)},
			[]string{"GET /"}},
		{"robots 503", RobotsFirst(), []Entry{at(0, "/robots.txt", 503), at(50, "/", 200)}, []string{"GET /"}},
		{"robots 429 then 200", RobotsFirst(), []Entry{at(0, "/robots.txt", 429), at(50, "/robots.txt", 200),
			at(90, "/", 200)}, nil},
		{"robots elsewhere", RobotsFirst("/r.txt"), []Entry{at(0, "/r.txt", 200), at(50, "/", 200)},
			[]string{"GET / "}},
		{"allowed", Disallowed("a.test", "/x"), []Entry{at(0, "/y", 200), at(1, "/x", 200).host("b.test")}, nil},
		{"disallowed", Disallowed("www.a.test", "/z", "/x"), []Entry{at(0, "/x?1", 200)}, []string{`"/x"`}},
		{"everything disallowed", Disallowed("", "/"), []Entry{at(0, "/robots.txt", 200), at(1, "/a", 200)},
			[]string{"/a"}},
		{"suspended", Suspended("a.test", start, start.Add(time.Second)),
			[]Entry{at(0, "/1", 429), at(900, "/2", 200), at(1000, "/3", 200)}, []string{"GET /2"}},
		{"patient", HonoursRetryAfter(time.Second, 5*time.Millisecond), []Entry{at(0, "/1", 429), at(1006, "/1", 200)},
			nil},
		{"impatient", HonoursRetryAfter(time.Second, 5*time.Millisecond),
			[]Entry{at(0, "/1", 503), at(1004, "/1", 200)}, []string{"GET /1"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := CheckLog(tt.entries, tt.rule)
			if len(got) != len(tt.want) {
				t.Fatalf("violations %q, want %q", got, tt.want)
			}
			for i, part := range tt.want {
				if !strings.Contains(got[i], part) {
					t.Errorf("violation %q, want %q in it", got[i], part)
				}
			}
		})
	}
}

func TestSmallestGap(t *testing.T) {
	if _, ok := SmallestGap([]Entry{at(0, "/", 200), at(5, "/", 200).host("b.test")}); ok {
		t.Error("a gap between hosts")
	}
	got, ok := SmallestGap([]Entry{at(300, "/", 200), at(0, "/", 200), at(120, "/", 200)})
	if want := 110 * time.Millisecond; !ok || got != want {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestLogEntry(t *testing.T) {
	var lines bytes.Buffer
	kept, err := New()
	if err != nil {
		t.Fatal(err)
	}
	written, err := New(WithLogWriter(&lines))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []*Server{kept, written} {
		s.Host("a.test").Page("/x", "12345")
		c := newClient(t, s)
		get(t, c, "https://a.test/x?y=%41", "User-Agent", "probe/1", "If-None-Match", `"t"`)
		ask(t, c, "HEAD", "https://a.test/none")
		c.CloseIdleConnections()
	}
	log := kept.Log()
	kept.ResetLog()
	if len(kept.Log()) != 0 || len(written.Log()) != 0 {
		t.Error("entries are kept that should not be")
	}
	if err := kept.Close(); err != nil {
		t.Error(err)
	}
	if err := written.Close(); err != nil {
		t.Error(err)
	}
	read, err := ReadLog(strings.NewReader(lines.String() + `{"host":"cut of`))
	if err != nil {
		t.Fatal(err)
	}
	for name, entries := range map[string][]Entry{"memory": log, "lines": read} {
		if len(entries) != 2 {
			t.Fatalf("%s: %d entries", name, len(entries))
		}
		e := entries[0]
		if e.Host != "a.test" || e.Method != "GET" || e.Path != "/x?y=%41" || e.Status != 200 ||
			e.UserAgent != "probe/1" ||
			e.Header.Get("If-None-Match") != `"t"` || e.Bytes != 5 || e.Aborted || e.Conn == 0 || e.Open != 0 {
			t.Errorf("%s: %+v", name, e)
		}
		if e.Arrived.IsZero() || e.FirstByte.Before(e.Arrived) {
			t.Errorf("%s: arrived %v, first byte %v", name, e.Arrived, e.FirstByte)
		}
		if e := entries[1]; e.Method != "HEAD" || e.Status != 404 || e.Bytes != 0 || e.Aborted ||
			e.Conn != entries[0].Conn {
			t.Errorf("%s: %+v", name, e)
		}
	}
	if _, err := ReadLog(strings.NewReader("{}\nnonsense\n")); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("nonsense is read: %v", err)
	}
}

func TestLogWriterFails(t *testing.T) {
	s, err := New(WithLogWriter(brokenWriter{}))
	if err != nil {
		t.Fatal(err)
	}
	c := newClient(t, s)
	get(t, c, "https://a.test/")
	c.CloseIdleConnections()
	if err := s.Close(); err == nil || !strings.Contains(err.Error(), "no space") {
		t.Errorf("close: %v, want the writer's error", err)
	}
}

var errNoSpace = errors.New("no space")

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errNoSpace }

func TestLogOpen(t *testing.T) {
	s := newServer(t)
	s.Host("a.test").Page("/", "").Fault(fault.Silence)
	s.Host("www.a.test").Page("/", "")
	c := newClient(t, s)
	done := make(chan struct{})
	go func() {
		defer close(done)
		c := *c
		c.Timeout = time.Minute
		if resp, err := c.Get("https://a.test/"); err == nil {
			resp.Body.Close()
		}
	}()
	waitFor(t, func() bool { return len(s.Log()) == 1 })
	get(t, c, "https://www.a.test/")
	if log := s.Log(); log[1].Open != 1 || !log[0].Done.IsZero() {
		t.Errorf("%d open, the first is done at %v", log[1].Open, log[0].Done)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	<-done
	if e := s.Log()[0]; e.Done.IsZero() || !e.Aborted {
		t.Errorf("%+v", e)
	}
}
