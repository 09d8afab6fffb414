package node_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/node"
)

// While a file that was made anew in the run lacks what the old one had, the map of all shards still
// holds together.
func TestRecreatedIsUnitedInMidRun(t *testing.T) {
	t.Parallel()
	for seed, more := range []int{0, 6} {
		t.Run(fmt.Sprint(more), func(t *testing.T) {
			t.Parallel()
			tr := slow(t, 60+uint64(seed), 2, 4)
			endFirst, _ := tr.start(0)
			end, _ := tr.start(1)
			tr.works(20)
			shard := tr.shardOf(1)
			_, endSecond, _ := tr.lost(1, shard, end)
			conn := tr.connect()
			tr.settle(conn, shard)
			if next, err := tr.recreate(conn, 0, shard); err != nil || next {
				t.Fatalf("recreate: %t, %v", next, err)
			}
			tr.until("the new file is crawled", conn, func(s node.Shard) bool {
				return s.Number == shard && s.Node == "node 0" && s.Report != nil
			})
			if more > 0 {
				tr.works(more)
			}
			first, second := endFirst(), endSecond()
			if !errors.Is(first, context.Canceled) || !errors.Is(second, context.Canceled) {
				t.Fatal(first, second)
			}
			files, err := filepath.Glob(filepath.Join(tr.folders[0], "shard-*.bolt"))
			others, err2 := filepath.Glob(filepath.Join(tr.folders[1], "shard-*.bolt"))
			if err := errors.Join(err, err2); err != nil {
				t.Fatal(err)
			}
			crawltest.Unite(t, filepath.Join(t.TempDir(), "united.bolt"), append(files, others...))
		})
	}
}
