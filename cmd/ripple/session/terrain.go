package session

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl/cluster/hub"
	"github.com/sumi-ripple/ripple/crawl/cluster/node"
	"github.com/sumi-ripple/ripple/schema/config"
)

// AtHub connects to the hub of a terrain.
func AtHub(ctx context.Context, log *slog.Logger, cfg *config.Config, f func(*hub.Conn) error) error {
	conn, err := connect(ctx, log, cfg, "ripple")
	if err != nil {
		return err
	}
	defer conn.Close()
	return hubError(f(conn))
}

// connect connects to the hub of a terrain under a name.
func connect(ctx context.Context, log *slog.Logger, cfg *config.Config, name string) (*hub.Conn, error) {
	conn, err := hub.Connect(ctx, hub.Dial{
		URL: cfg.Cluster.Hub, Credentials: cfg.Cluster.Credentials, CAFile: cfg.Cluster.CAFile, Node: name, Log: log,
	})
	return conn, hubError(err)
}

// TellTerrain tells all nodes of a terrain to pause, resume, stop, or follow the configuration that
// load returns. It returns what was done, even if it also returns an error.
func TellTerrain(ctx context.Context, conn *hub.Conn, do string,
	load func() (*config.Config, error)) ([]term.Remark, error) {
	switch do {
	case "stop":
		return stopTerrain(ctx, conn)
	case "reload":
		cfg, err := load()
		if err != nil {
			return nil, err
		}
		return reloadTerrain(ctx, conn, cfg)
	}
	run, err := node.Pause(ctx, conn, do == "pause")
	if err != nil {
		return nil, err
	}
	text := fmt.Sprintf("run #%d is paused on all nodes, within a second; \"ripple resume\" resumes it", run)
	if do == "unpause" {
		text = fmt.Sprintf("run #%d resumes", run)
	}
	return []term.Remark{term.Event("terrain obeys", text, "command", do, "run", run)}, nil
}

func stopTerrain(ctx context.Context, conn *hub.Conn) (done []term.Remark, err error) {
	nodes, silent, err := node.Stop(ctx, conn)
	if err != nil {
		return nil, err
	}
	for _, name := range nodes {
		done = append(done, term.Event("node stops", term.Shown(name)+" is stopping; open requests get 10 s to finish",
			"node", name))
	}
	switch {
	case len(silent) > 0:
		err = fmt.Errorf("not stopped, for they do not answer: %s", term.Clean(strings.Join(silent, ", "), 200))
	case len(nodes) == 0:
		err = node.ErrNobody
	}
	return done, err
}

// reloadTerrain changes a terrain to a configuration.
func reloadTerrain(ctx context.Context, conn *hub.Conn, cfg *config.Config) ([]term.Remark, error) {
	run, number, news, err := node.Reload(ctx, conn, cfg)
	if err != nil {
		return nil, err
	}
	text := fmt.Sprintf("run #%d goes on under configuration %d on each machine whose file says the same, "+
		"within a second or when it does", run, number)
	if !news {
		text = fmt.Sprintf("run #%d goes on under configuration %d as before, which says the same of what all machines "+
			"have in common; a machine's own limits and files, and what is noted of hosts, hold from its next start",
			run, number)
	}
	return []term.Remark{term.Event("terrain obeys", text, "command", "reload", "run", run, "configuration", number)}, nil
}
