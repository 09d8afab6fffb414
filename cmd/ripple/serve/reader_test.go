package serve

import (
	"cmp"
	"errors"
	"io"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/cmd/ripple/rippletest"
	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
)

// A desk of the shards in a folder merges them once, and not for every request.
func TestShardsServed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rippletest.NewShards(t, dir)
	cfg := crawltest.Parse(t, surveytest.Minimal)
	for n := range 2 {
		store, err := kv.Open(filepath.Join(dir, "shard-"+strconv.Itoa(n)+".bolt"), kv.Options{})
		if err != nil {
			t.Fatal(err)
		}
		err = store.Update(func(tx *kv.Tx) error {
			run := schema.Run{ID: 1, Started: time.Unix(1, 0), Config: cfg.Hash(), FirstVisit: 1, Generation: store.Generation()}
			return errors.Join(tx.Runs.PutConfig(cfg.Hash(), cfg.Effective()), tx.Runs.Put(run))
		})
		if err := errors.Join(err, store.Close()); err != nil {
			t.Fatal(err)
		}
	}
	reader := newTerrainReader(statefile.Files{Voice: term.NewVoice(io.Discard)}, dir)
	defer reader.Close()
	var first *opened
	for range 3 {
		reader.own(t.Context(), false, func() {
			now, err := reader.reading(t.Context(), "")
			if err != nil {
				t.Fatal(err)
			}
			if first = cmp.Or(first, now); now != first {
				t.Error("the shards are merged again")
			}
		})
	}
}
