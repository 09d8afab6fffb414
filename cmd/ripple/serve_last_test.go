package main

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Viewers at a crawl's own desk get its last visits, too: each one in the file, once.
func TestCrawlTellsItsLast(t *testing.T) {
	t.Parallel()
	const gap = 15 * time.Second // in which the stream is opened, or gets what it has missed
	c := startPaced(t, gap, "--listen", "127.0.0.1:0")
	d := newTestDesk(t, c.desk())
	lines := d.events()
	var told []string
	next := func() bool {
		if !lines.Scan() {
			return false
		}
		var e struct {
			Visits []struct{ URL, State string }
		}
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok && json.Unmarshal([]byte(data), &e) == nil {
			for _, v := range e.Visits {
				told = append(told, v.URL+" "+v.State)
			}
		}
		return true
	}
	for found := false; !found; found = lines.Text() == "event: status" {
		if !next() {
			t.Fatalf("the stream ended: %v", lines.Err())
		}
	}
	c.pace(gap, 100*time.Millisecond)
	// When the delay is over, the crawl is soon done.
	if code, text := d.send("reload", "{}"); code != http.StatusOK {
		t.Fatalf("reload: %d %s", code, text)
	}
	for next() {
	}
	if code := c.wait(); code != 0 {
		t.Errorf("the crawl ended with %d: %s", code, c.told())
	}
	whole, _ := readFeed(t, []string{"feed", "--state", filepath.Join(c.dir, "ripple.bolt")}, false)
	if diff := cmp.Diff(whole, told); len(whole) == 0 || diff != "" {
		t.Errorf("the stream does not tell what the file has: %s", diff)
	}
}
