package crawl

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/ring"
)

// TestFullDisk fills the disk for a minute while a crawl is running: the crawl pauses, commits
// nothing, logs that once, resumes, and its map is that of any other crawl.
func TestFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPaperServers(t)
		s.host["a.test"] = site("", 30)
		rec, said := roomyRecorder(t, s)
		began := time.Now()
		for _, at := range []time.Duration{4 * time.Second, 60 * time.Second, 70 * time.Second} {
			time.AfterFunc(at, func() { // what the status shows
				full := rec.full.Load()
				if is := full != nil; is != (at == 60*time.Second) {
					t.Errorf("after %v the disk is full: %t", at, is)
				}
				if full != nil && (full.Since.Sub(began) > 10*time.Second || full.Free != roomReserve-1 ||
					full.Folder != filepath.Dir(rec.store.Path())) {
					t.Errorf("%+v, %v after the start", full, full.Since.Sub(began))
				}
			})
		}
		during := map[uint64]int{}               // checks while the disk is full, by commit
		rec.free = func(string) (uint64, bool) { // between two commits
			if since := time.Since(began); since > 5*time.Second && since < 65*time.Second {
				during[rec.store.LastCommit()]++
				return roomReserve - 1, true
			}
			return roomReserve, true
		}
		if err := s.ring(rec, 0); err != nil {
			t.Fatal(err)
		}
		if len(during) != 1 {
			t.Errorf("commits with a full disk: %v", during)
		}
		for _, line := range []string{"the crawl waits until there is room", "there is room on the disk again"} {
			if strings.Count(said.String(), line) != 1 {
				t.Errorf("%q was said %d times", line, strings.Count(said.String(), line))
			}
		}
		if rec.recorder.Run().Pages != 31 {
			t.Errorf("%d pages, want 31", rec.recorder.Run().Pages)
		}
		if n := len(s.requests("a.test")); n > 40 {
			t.Errorf("%d requests for 31 pages", n)
		}
	})
}

// TestFullDiskOfPages fills the disk with the page store, which may be another disk: that is no
// reason to end either.
func TestFullDiskOfPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPaperServers(t)
		s.host["a.test"] = site("", 30)
		pages := filepath.Join(t.TempDir(), "pages")
		rec, said := roomyRecorderOf(t, s, fmt.Sprintf("[pages]\nkeep = true\npath = %q\n", pages))
		began := time.Now()
		during := map[uint64]int{} // checks while the disk is full, by commit
		rec.free = func(dir string) (uint64, bool) {
			if since := time.Since(began); dir == pages && since > 5*time.Second && since < 65*time.Second {
				during[rec.store.LastCommit()]++
				return 0, true
			}
			return roomReserve, true
		}
		if err := s.ring(rec, 0); err != nil {
			t.Fatal(err)
		}
		if len(during) != 1 {
			t.Errorf("commits with a full disk: %v", during)
		}
		if !strings.Contains(said.String(), "folder="+pages) {
			t.Errorf("the folder was not said:\n%s", said)
		}
	})
}

// TestStopWithFullDisk stops a crawl that waits for room: it ends, and uncommitted pages are
// requested by the next start.
func TestStopWithFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPaperServers(t)
		s.host["a.test"] = site("", 30)
		rec, _ := roomyRecorder(t, s)
		began := time.Now()
		rec.free = func(string) (uint64, bool) {
			if time.Since(began) > 5*time.Second {
				return 0, true
			}
			return roomReserve, true
		}
		time.AfterFunc(20*time.Second, func() { rec.leave.Store(true) })
		if err := s.ring(rec, 0); !errors.Is(err, ErrNoRoom) {
			t.Errorf("the ring ended with %v, want ErrNoRoom", err)
		}
		if took := time.Since(began); took > 25*time.Second {
			t.Errorf("stopping took %v", took-20*time.Second)
		}
		if err := rec.store.Close(); err != nil {
			t.Fatal(err)
		}
		s.crawl(politeConfig(nil), 0)
		if n := len(s.visits()); n < 31 {
			t.Errorf("%d pages in the end, want 31 at least", n)
		}
	})
}

func roomyRecorder(t *testing.T, s *paperServers) (*committer, *bytes.Buffer) {
	t.Helper()
	return roomyRecorderOf(t, s, "")
}

func roomyRecorderOf(t *testing.T, s *paperServers, more string) (*committer, *bytes.Buffer) {
	t.Helper()
	set, err := ring.NewSettings(crawltest.Parse(t, politeConfig(map[string]string{"more": more})))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(set.Client.Close)
	store := crawltest.Open(t, s.path)
	said := &bytes.Buffer{}
	rec := newCommitter(store, set, slog.New(slog.NewTextHandler(said, nil)), nil)
	if _, err := rec.recorder.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	return rec, said
}
