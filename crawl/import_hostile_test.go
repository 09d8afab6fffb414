package crawl_test

import (
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/kv"
)

// A hook is a context that calls f whenever somebody asks whether it is done.
type hook struct {
	context.Context
	f func()
}

func (h hook) Err() error {
	h.f()
	return nil
}

// TestImportOfChangedFile: an archive that is replaced while it is imported ends the import. What the other file holds
// in that place is not recorded, for lists may refuse it.
func TestImportOfChangedFile(t *testing.T) {
	t.Parallel()
	front := "<title>Front</title>" + crawltest.Anchors("https://b.test/")
	var old, other, shorter warcFile
	for w, next := range map[*warcFile]string{&old: "http://b.test/", &other: "http://bad.test/", &shorter: ""} {
		w.page("http://a.test/", "2015-03-01T00:00:00Z", front)
		if next != "" {
			w.page(next, "2015-03-01T00:00:00Z", "<title>Next</title>")
		}
	}
	for _, now := range []*warcFile{&other, &shorter} {
		store, from := crawltest.Open(t, stateFile(t)), crawl.Archives{WARC: []string{old.write(t)}}
		ctx := hook{context.Background(), func() {
			err := store.View(func(tx *kv.Tx) error {
				runs, err := tx.Runs.All()
				if err == nil && len(runs) > 0 {
					err = os.WriteFile(from.WARC[0], now.Bytes(), 0o600)
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
		}}
		_, err := crawl.Import(ctx, store, crawltest.Parse(t, crawltest.Paper(importConfig)), from)
		if err == nil || !strings.Contains(err.Error(), "has changed") {
			t.Errorf("%v; want that the file has changed", err)
		}
		if got := found(t, store); got["bad.test/"] != "" {
			t.Errorf("%q", got)
		}
	}
}

// TestImportOfCopies: a file under two names has what it has under one.
func TestImportOfCopies(t *testing.T) {
	t.Parallel()
	var w warcFile
	w.page("http://a.test/", "2015-03-01T00:00:00Z", "<title>Front</title>")
	store, cfg := crawltest.Open(t, stateFile(t)), crawltest.Parse(t, crawltest.Paper(importConfig))
	one, two := w.write(t), w.write(t)
	if done := importInto(t, store, cfg, crawl.Archives{WARC: []string{one, two}}); done.Pages != 1 {
		t.Errorf("%+v", done)
	}
	if done := importInto(t, store, cfg, crawl.Archives{WARC: []string{two}}); !done.Known {
		t.Errorf("%+v; want the run that has the file", done)
	}
}

// TestImportOfDamaged: a record with a wrong checksum is reported, even if it would not be chosen, and is no capture. An
// older capture of its page is imported, the dates of the run do not include it, and a revisit does not get its body.
func TestImportOfDamaged(t *testing.T) {
	t.Parallel()
	var w warcFile
	var want []string
	path := filepath.Join(t.TempDir(), "old.warc.gz")
	damaged := func(url, at, html string) {
		want = append(want, fmt.Sprintf("%s at %d: gzip: invalid checksum", path, w.Len()))
		w.page(url, at, html)
		w.Bytes()[w.Len()-8] ^= 1 // of the CRC-32 (RFC 1952 section 2.3.1)
	}
	const lost = "<title>Lost</title>"
	w.page("http://a.test/", "2015-01-01T00:00:00Z", "<title>Old</title>")
	damaged("http://a.test/", "2015-03-01T00:00:00Z", "<title>New</title>"+strings.Repeat("words ", 50_000))
	damaged("http://a.test/", "2014-01-01T00:00:00Z", "<title>Older</title>")
	damaged("http://a.test/lost", "2013-01-01T00:00:00Z", lost)
	w.add("revisit", "http://a.test/same", "2015-04-01T00:00:00Z", map[string]string{
		"WARC-Profile":        "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest",
		"WARC-Payload-Digest": fmt.Sprintf("sha1:%x", sha1.Sum([]byte(lost)))}, "")
	damaged("http://elsewhere.test/", "2015-01-01T00:00:00Z", "<title>Elsewhere</title>")
	w.page("http://a.test/last", "2015-02-01T00:00:00Z", "<title>Last</title>")
	if err := os.WriteFile(path, w.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	store, cfg := crawltest.Open(t, stateFile(t)), crawltest.Parse(t, crawltest.Paper(importConfig))
	done := importInto(t, store, cfg, crawl.Archives{WARC: []string{path}})
	pages := map[string]string{"a.test/": "processed 200 Old 2015-01", "a.test/last": "processed 200 Last 2015-02"}
	if diff := cmp.Diff(pages, found(t, store)) + cmp.Diff(want, done.Damages); diff != "" || done.Damaged != len(want) {
		t.Errorf("%d damaged (-want +got)\n%s", done.Damaged, diff)
	}
	oldest, newest := done.Run.Oldest.Format(time.DateOnly), done.Run.Newest.Format(time.DateOnly)
	if oldest != "2015-01-01" || newest != "2015-02-01" {
		t.Errorf("the run holds answers from %s to %s", oldest, newest)
	}

	var none warcFile
	none.page("http://a.test/", "2015-01-01T00:00:00Z", "<title>Old</title>")
	none.Bytes()[none.Len()-8] ^= 1
	empty := crawltest.Open(t, stateFile(t))
	_, err := crawl.Import(t.Context(), empty, cfg, crawl.Archives{WARC: []string{none.write(t)}})
	if !errors.Is(err, crawl.ErrNoCaptures) {
		t.Errorf("only a damaged capture: %v", err)
	}
	err = empty.View(func(tx *kv.Tx) error {
		runs, err := tx.Runs.All()
		if len(runs) > 0 {
			t.Errorf("only a damaged capture: %d runs", len(runs))
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
