package crawl_test

import (
	"context"
	"os"
	"strings"
	"testing"

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
