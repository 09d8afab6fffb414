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

// Reclassify applies a changed configuration to what is recorded, without a request to any server.
// Classes, depths and what waits are derived from the recorded links, as when a crawl is resumed
// under that configuration. The last run then has the new configuration text. A completed run stays
// completed, unless pages have come within its reach; the next crawl visits those.
//
// It is idempotent. If it is killed, the next call or the next crawl repeats it. It fails if the
// store has no run, see [survey.ErrNoRun], or holds a shard of a terrain, see [ErrPart].
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

// offline returns settings for work that sends no requests. It succeeds on machines without the
// trust anchors of the configuration.
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
