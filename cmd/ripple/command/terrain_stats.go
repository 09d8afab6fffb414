package command

import (
	"context"
	"io"
	"time"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/cmd/ripple/session"
	"github.com/sumi-ripple/ripple/cmd/ripple/show"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl/cluster/hub"
	"github.com/sumi-ripple/ripple/crawl/cluster/node"
	"github.com/sumi-ripple/ripple/schema/config"
)

func runTerrainStats(ctx context.Context, a *app, cfg *config.Config, opts statsOptions) error {
	return session.AtHub(ctx, a.Voice.Logger(), cfg, func(conn *hub.Conn) error {
		t, err := node.Look(ctx, conn)
		if err != nil {
			return err
		}
		most := 0
		if t.Follows(cfg) {
			most = cfg.Crawler.MaxPages
		}
		s := answer.NewTerrainStats(cfg.Cluster.Hub, most, t)
		if opts.json {
			return term.PrintJSON(a.stdout, s)
		}
		return term.Flushed(a.stdout, func(w io.Writer) error { return show.Terrain(w, s, time.Now()) })
	})
}
