package sqlite

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema/process"
)

func (s *server) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.open)
}

func discard([]string) (func([]any) (bool, error), error) {
	return func([]any) (bool, error) { return true, nil }, nil
}

// Many databases are opened and closed, and nothing is left behind.
func TestNothingIsKept(t *testing.T) {
	s := surveytest.New(t, surveytest.Minimal).Survey()
	server, err := served()
	if err != nil {
		t.Fatal(err)
	}
	openings := 1000
	if testing.Short() {
		openings = 200
	}
	before, routines, heap := server.count(), runtime.NumGoroutine(), int64(0)
	for n := range openings {
		d, err := Open(s)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Query(t.Context(), "SELECT * FROM pages JOIN links", discard); err != nil {
			t.Fatal(err)
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		if n == 99 {
			heap = process.LiveHeap()
		}
	}
	if n := server.count(); n != before {
		t.Errorf("%d databases are still known; want %d", n, before)
	}
	var grown int64
	var left int
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) { // cancelled work may end later
		grown, left = process.LiveHeap()-heap, runtime.NumGoroutine()
		if grown <= 4<<20 && left <= routines+2 {
			return
		}
		if time.Now().After(end) {
			break
		}
	}
	t.Errorf("%d openings have left %d bytes behind; %d goroutines, want %d", openings-100, grown, left, routines)
}

// TestPanic makes a table panic at every step: the statement fails, and the next one works.
func TestPanic(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal)
	w.Visit("a.test/", nil)
	d, err := Open(w.Survey())
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	v := d.tables[1].(*view[pageRow])
	whole := *v
	for name, hurt := range map[string]func(){
		"planning":  func() { v.rows = func() int64 { panic("hurt") } },
		"beginning": func() { v.scan = func(span) (next[pageRow], error) { panic("hurt") } },
		"going on": func() {
			v.scan = func(span) (next[pageRow], error) {
				return func(*pageRow) (bool, error) { panic("hurt") }, nil
			}
		},
		"a column": func() { v.load = func(*pageRow, string) error { panic("hurt") } },
	} {
		hurt()
		err := d.Query(t.Context(), "SELECT url FROM pages", discard)
		if err == nil || !strings.Contains(err.Error(), "hurt") {
			t.Errorf("%s: %v", name, err)
		}
		*v = whole
		if err := d.Query(t.Context(), "SELECT url FROM pages", discard); err != nil {
			t.Errorf("after %s: %v", name, err)
		}
	}
}
