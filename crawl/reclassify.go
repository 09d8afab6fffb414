package crawl

import (
	"io"
	"log/slog"

	"github.com/sumi-ripple/ripple/crawl/record"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

// Reclassify applies a changed configuration to what is known, without asking a
// server: classes, depths and what waits follow from the recorded links, as when a
// crawl goes on under it. The last run then bears the new text. If it was completed it
// stays so, unless pages have come within its reach; the next crawl goes on with
// those.
//
// It is idempotent; killed on the way, it is repeated by the next one or by the
// next crawl. A store without a run is an error, see [survey.ErrNoRun]; so is
// one that holds a shard of a terrain, see [ErrPart].
func Reclassify(store *kv.Store, cfg *config.Config) (schema.Run, error) {
	if err := Whole(store); err != nil {
		return schema.Run{}, err
	}
	set, err := offline(cfg)
	if err != nil {
		return schema.Run{}, err
	}
	defer set.Client.Close()
	return record.New(store, set, silent(), nil).Reclassify()
}

// offline returns the settings for work that asks nobody: it goes on where the trust anchors are not,
// on another machine.
func offline(cfg *config.Config) (*ring.Settings, error) {
	bare := *cfg
	bare.Network.CAFile = ""
	set, err := ring.NewSettings(&bare)
	if err != nil {
		return nil, err
	}
	set.Config = cfg
	return set, nil
}

func silent() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }
