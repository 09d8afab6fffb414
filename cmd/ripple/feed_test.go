package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// TestFeedFollows follows a running crawl with a reader that is killed again and
// again and goes on from its cursor, and reads so slowly that the crawl would feel
// it: every line comes once, in the order in which the file tells them.
func TestFeedFollows(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "feed") // short enough for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	path := writeConfig(t, newWeb(t), dir, false)
	crawl := ripple("crawl", path)
	if err := crawl.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- crawl.Wait() }()
	state := filepath.Join(dir, "ripple.bolt")
	var got []string
	cursor, reads := uint64(0), 0
	over := false
	for deadline := time.Now().Add(5 * time.Minute); !over; reads++ {
		if time.Now().After(deadline) {
			t.Fatal("the crawl does not end")
		}
		select {
		case err := <-ended:
			if err != nil {
				t.Fatal(err)
			}
			over = true
		default:
		}
		args := []string{"feed", "--state", state, "--since", fmt.Sprint(cursor)}
		if !over {
			args = append(args, "--follow")
		}
		lines, last := readFeed(t, args, !over)
		got = append(got, lines...)
		cursor = max(cursor, last)
	}
	whole, _ := readFeed(t, []string{"feed", "--state", state}, false)
	if len(whole) != 8 || fmt.Sprint(got) != fmt.Sprint(whole) {
		t.Errorf("%d reads told\n%q\nthe file tells\n%q", reads, got, whole)
	}
	t.Logf("%d lines in %d reads", len(got), reads)
}

func ripple(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = os.Environ()
	return cmd
}

// readFeed returns the URLs and states of a feed, and the last cursor. It kills a
// feed that is followed after two lines, or half a second.
func readFeed(t *testing.T, args []string, kill bool) (lines []string, cursor uint64) {
	t.Helper()
	cmd := ripple(args...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if kill {
		timer := time.AfterFunc(500*time.Millisecond, func() { _ = cmd.Process.Kill() })
		defer timer.Stop()
	}
	r := bufio.NewReader(out)
	for {
		text, err := r.ReadBytes('\n')
		if err != nil { // a line without its end was not taken
			break
		}
		var line struct {
			Cursor     uint64
			URL, State string
		}
		if err := json.Unmarshal(text, &line); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		lines, cursor = append(lines, line.URL+" "+line.State), line.Cursor
		if kill && len(lines) == 2 {
			_ = cmd.Process.Kill()
			break
		}
	}
	if err := cmd.Wait(); err != nil && !kill {
		t.Fatal(err)
	}
	return lines, cursor
}
