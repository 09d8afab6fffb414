package session

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl/cluster/exchange"
	"github.com/sumi-ripple/ripple/crawl/cluster/hub"
	"github.com/sumi-ripple/ripple/crawl/cluster/node"
	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

// maxSilent is how many of the shards that are missing are named with the reason.
const maxSilent = 10

// ReadTerrain opens the map of a terrain for reading. It copies the shards from the machines that have them, and reads
// the files of this machine that no other one holds. It fails, and names them, if shards are missing.
func ReadTerrain(
	ctx context.Context, from statefile.Files, log *slog.Logger, cfg *config.Config,
) (state *statefile.State, err error) {
	err = AtHub(ctx, log, cfg, func(conn *hub.Conn) error {
		state, err = from.ReadShards(ctx, cfg.Cluster.Folder, "reading the shards of all machines",
			func(scratch string, parts *statefile.Shards, p export.Progress) error {
				return openTerrain(ctx, from, conn, cfg, scratch, parts, p)
			})
		return err
	})
	return state, err
}

// openTerrain opens copies of all shards, which it writes into a temporary folder.
func openTerrain(ctx context.Context, from statefile.Files, conn *hub.Conn, cfg *config.Config, scratch string,
	parts *statefile.Shards, p export.Progress) error {
	copies := node.Copies{Folder: scratch, Fits: func(size int64) error { return statefile.Fits(scratch, size) }}
	if p != nil {
		copies.See = func(done, total int64) { p.At("copying, in kB", int(done>>10), int(total>>10)) }
	}
	id, all, err := copies.Fetch(ctx, conn)
	if err != nil {
		return err
	}
	p.At("opening shards", 0, 0)
	var missing []node.Copied
	for _, one := range all {
		file := statefile.ShardFile{Path: one.Path, Terrain: id, Shard: one.Shard, Live: one.Live,
			Opening: one.Last.Opening, Commit: one.Last.Commit}
		if own := node.FilePath(cfg.Cluster.Folder, one.Shard); file.Path == "" && exists(own) {
			file.Path = own
		}
		if file.Path != "" {
			one.Why = parts.OpenShard(ctx, from, file)
		}
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if one.Why != nil {
			missing = append(missing, one)
		}
	}
	if missing == nil {
		return nil
	}
	return missingError(missing, len(all))
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// missingError says which shards are missing, and why.
func missingError(missing []node.Copied, of int) error {
	var numbers []int
	var why []string
	for _, one := range missing {
		numbers = append(numbers, one.Shard)
		if len(why) < maxSilent {
			why = append(why, fmt.Sprintf("shard %d: %s", one.Shard, whyMissing(one)))
		}
	}
	return term.Hint(fmt.Errorf("there is no answer without %s of %d: %s", schema.ShardsOf(numbers...).Named(), of,
		strings.Join(why, "; ")), "start those machines, or \"ripple serve\" there if the crawl is over")
}

func whyMissing(one node.Copied) string {
	name := term.Shown(one.Last.Node)
	switch {
	case !errors.Is(one.Why, exchange.ErrNobody):
		return term.Clean(one.Why.Error(), 300)
	case one.Last.Held:
		return name + " does not answer"
	case one.Last.Node != "":
		return "no machine has its file open; " + name + " had it last"
	}
	return "no machine has its file open"
}
