package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Whoever looks on at a crawl's own desk sees its last visits, too: each that the file has,
// once.
func TestCrawlTellsItsLast(t *testing.T) {
	c := startCrawl(t, "--listen", "127.0.0.1:0")
	_, address, _ := strings.Cut(c.told(), "the desk is at ")
	address, _, _ = strings.Cut(address, "\n")
	d := newTestDesk(t, address)
	r, err := http.NewRequest("GET", d.base+"events", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+d.token)
	stream, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	lines := bufio.NewScanner(stream.Body)
	for found := false; !found; found = lines.Text() == "event: status" {
		if !lines.Scan() {
			t.Fatalf("the stream ended: %v", lines.Err())
		}
	}
	text, err := os.ReadFile(c.path)
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.Replace(text, []byte("minimum-time-on-page = 60000"), []byte("minimum-time-on-page = 100"), 1)
	if err := os.WriteFile(c.path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	if code, text := d.send("reload", "{}"); code != http.StatusOK { // it waits no more, and is soon done
		t.Fatalf("reload: %d %s", code, text)
	}
	var told []string
	for lines.Scan() {
		var e struct {
			Visits []struct{ URL, State string }
		}
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok && json.Unmarshal([]byte(data), &e) == nil {
			for _, v := range e.Visits {
				told = append(told, v.URL+" "+v.State)
			}
		}
	}
	if code := c.wait(); code != 0 {
		t.Errorf("the crawl ended with %d: %s", code, c.told())
	}
	whole, _ := readFeed(t, []string{"feed", "--state", filepath.Join(c.dir, "ripple.bolt")}, false)
	if diff := cmp.Diff(whole, told); len(whole) == 0 || diff != "" {
		t.Errorf("the stream does not tell what the file has: %s", diff)
	}
}
