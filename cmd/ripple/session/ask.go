package session

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl/cluster/exchange"
	"github.com/sumi-ripple/ripple/crawl/cluster/hub"
	"github.com/sumi-ripple/ripple/crawl/cluster/node"
	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/export/feed"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

// maxSilent is how many of the shards that are missing are named with the reason.
const maxSilent = 10

// ReadTerrain opens the map of a terrain for reading. It copies the shards from the machines that have them, and reads
// the files of this machine that no other one holds. It fails, and names them, if shards are missing.
func ReadTerrain(
	ctx context.Context, from statefile.Files, log *slog.Logger, cfg *config.Config,
) (*statefile.State, error) {
	return readTerrain(ctx, from, log, cfg, func(*statefile.Shards) error { return nil })
}

// readTerrain is ReadTerrain. It calls look with the shards before they are merged.
func readTerrain(
	ctx context.Context, from statefile.Files, log *slog.Logger, cfg *config.Config, look func(*statefile.Shards) error,
) (state *statefile.State, err error) {
	err = AtHub(ctx, log, cfg, func(conn *hub.Conn) error {
		state, err = from.ReadShards(ctx, cfg.Cluster.Folder, "reading the shards of all machines",
			func(scratch string, parts *statefile.Shards, p export.Progress) error {
				if err := openTerrain(ctx, from, conn, cfg, scratch, parts, p); err != nil {
					return err
				}
				return look(parts)
			})
		return err
	})
	return state, err
}

// FeedTerrain writes the visits of a terrain after the cursors in since, as lines of JSON, in the order of the merged
// map.
func FeedTerrain(
	ctx context.Context, from statefile.Files, log *slog.Logger, cfg *config.Config, since string, w io.Writer,
) error {
	var shards feed.Shards
	var after feed.Cursors
	state, err := readTerrain(ctx, from, log, cfg, func(parts *statefile.Shards) (err error) {
		if after, err = feed.ParseCursors(since, len(parts.All)); err != nil {
			return term.Usage("--since: %v", err)
		}
		for i, part := range parts.All { // in the order of the shards
			read := func(cursor uint64) (*feed.Batch, error) {
				return feed.ReadBrief(part.Store, cfg.Scope(), cursor, 0, nil)
			}
			if _, err := read(after[i]); err != nil { // the cursor may be of another terrain
				return err
			}
			if err := shards.Add(read); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	defer state.Close()
	out := bufio.NewWriter(w)
	for cursor, more := uint64(0), true; more; {
		b, err := feed.Read(state.Store, state.Scope(), cursor, state.AnswerTo)
		if err == nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return err
		}
		for _, text := range b.Lines {
			line, err := shards.Line(text, after)
			if err != nil {
				return err
			}
			if line != nil {
				_, _ = out.Write(append(line, '\n')) // Flush returns the error
			}
		}
		cursor, more = b.Next, b.More
	}
	return out.Flush()
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
		own := node.FilePath(cfg.Cluster.Folder, one.Shard)
		here := file.Path == "" && exists(own)
		if here {
			file.Path = own
		}
		if file.Path != "" {
			err := parts.OpenShard(ctx, from, file)
			if here && err != nil {
				err = fmt.Errorf("%s; its file here cannot be used: %w", whyMissing(one), err)
			}
			one.Why = err
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
