package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/cmd/ripple/rippletest"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/scaletest"
	"github.com/sumi-ripple/ripple/schema"
)

// TestFeedFollows follows a running crawl with a reader that is killed repeatedly and resumes from
// its cursor, and that reads so slowly that it could delay the crawl: every line comes once, in the
// order of the file.
func TestFeedFollows(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "feed") // short enough for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	path := rippletest.WriteConfig(t, rippletest.NewWeb(t), dir, false)
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
		if err != nil { // an incomplete line does not count
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

// TestFeedOfHeldFile follows a file that another command holds at first: its content comes once it
// is free.
func TestFeedOfHeldFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(filepath.Dir(rippletest.Crawled(t, 1)), "state.bolt")
	whole, _ := readFeed(t, []string{"feed", "--state", path}, false)
	held, err := kv.Open(path, kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	lines := following(t, path)
	time.AfterFunc(4*time.Second, func() { held.Close() }) // longer than a command waits for a file
	n := 0
	for n < len(whole) && lines.Scan() {
		n++
	}
	if n != len(whole) || n == 0 {
		t.Errorf("%d lines of %d", n, len(whole))
	}
}

// following returns the output of "feed --follow" for a file, for half a minute at most.
func following(t *testing.T, path string) *bufio.Scanner {
	t.Helper()
	cmd := ripple("feed", "--state", path, "--follow")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(30*time.Second, func() { _ = cmd.Process.Kill() })
	t.Cleanup(func() {
		timer.Stop()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 8<<20)
	return lines
}

// TestFeedLeavesFileFree has a slow reader of a feed: meanwhile the file is free for a crawl, and
// afterwards every line comes once.
func TestFeedLeavesFileFree(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.bolt") // with more than is sent at once
	size := scaletest.Size{Pages: 20_000, Visited: 15_000, Links: 100_000, Hosts: 20, Runs: 1}
	if err := scaletest.Make(path, size); err != nil {
		t.Fatal(err)
	}
	whole, _ := readFeed(t, []string{"feed", "--state", path}, false)
	cmd := ripple("feed", "--state", path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	lines.Buffer(make([]byte, 0, 4096), 8<<20)
	n := 0
	for n < 3 && lines.Scan() { // more is in the pipe, and the rest does not fit
		n++
	}
	for range 2 { // a crawl that has ended before the reader continues
		store, err := kv.Open(path, kv.Options{})
		if err != nil {
			t.Fatal(err)
		}
		err = store.Update(func(tx *kv.Tx) error { return tx.Meta.Put("test", []byte("x")) })
		if err := errors.Join(err, store.Close()); err != nil {
			t.Fatal(err)
		}
	}
	held, err := kv.Open(path, kv.Options{}) // by a program that does not crawl, for longer than a command waits for a file
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(4*time.Second, func() { held.Close() })
	for lines.Scan() {
		n++
	}
	if err := cmd.Wait(); err != nil || n != len(whole) {
		t.Errorf("%d lines of %d, %v", n, len(whole), err)
	}
}

// TestFeedFollowsShortCrawls has crawls that begin and end between two checks for a running crawl.
func TestFeedFollowsShortCrawls(t *testing.T) {
	t.Parallel()
	path := filepath.Join(filepath.Dir(rippletest.Crawled(t, 1)), "state.bolt")
	whole, _ := readFeed(t, []string{"feed", "--state", path}, false)
	lines := following(t, path)
	n := 0
	for n < len(whole) && lines.Scan() {
		n++
	}
	store, err := kv.Open(path, kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	err = store.Update(func(tx *kv.Tx) error {
		page := schema.Seq(1)
		v, err := tx.Visits.At(page)
		for ; err == nil && store.Kind(v.URL) != schema.KindPage; page++ {
			v, err = tx.Visits.At(page)
		}
		if err == nil {
			_, err = tx.Visits.Add(v)
		}
		return err
	})
	if err := errors.Join(err, store.Close()); err != nil {
		t.Fatal(err)
	}
	if lines.Scan() {
		n++
	}
	if n != len(whole)+1 {
		t.Errorf("%d lines of %d", n, len(whole)+1)
	}
}
