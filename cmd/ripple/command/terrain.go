package command

import (
	"context"

	"github.com/sumi-ripple/ripple/cmd/ripple/session"
	"github.com/sumi-ripple/ripple/crawl/cluster/hub"
	"github.com/sumi-ripple/ripple/schema/config"
)

// commandTerrain tells all nodes of a terrain to do something.
func commandTerrain(ctx context.Context, a *app, cfg *config.Config, do string) error {
	return session.AtHub(ctx, a.Voice.Logger(), cfg, func(conn *hub.Conn) error {
		done, err := session.TellTerrain(ctx, conn, do, func() (*config.Config, error) { return cfg, nil })
		for _, r := range done {
			a.Voice.Tell(r)
		}
		return err
	})
}
