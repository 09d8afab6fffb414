package census

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema/config"
)

// However many crawls a process has, all their watchers together count no more hosts at a time
// than one alone would, and each goes on where it was.
func TestLooksAreShared(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal)
	for i := range 250 {
		w.Visit(fmt.Sprintf("h%d.a.test/", i), nil)
	}
	var cfg atomic.Pointer[config.Config]
	cfg.Store(w.Config)
	for _, tt := range []struct{ watchers, looks int }{{1, 1}, {1000, 3}} {
		watcher := NewWatcher(nil, &cfg, w.Run)
		watching.Add(int64(tt.watchers))
		looks := 0
		for done := false; !done; done = watcher.next == 1 {
			if err := w.Store.View(func(tx *kv.Tx) error { return watcher.countHosts(w.Store, tx, nil) }); err != nil {
				t.Fatal(err)
			}
			looks++
		}
		watching.Add(int64(-tt.watchers))
		if looks != tt.looks {
			t.Errorf("%d watchers: each has counted all hosts after %d looks, want %d", tt.watchers, looks, tt.looks)
		}
	}
}
