package command

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/cmd/ripple/desk"
	"github.com/sumi-ripple/ripple/cmd/ripple/serve"
	"github.com/sumi-ripple/ripple/cmd/ripple/session"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl/cluster/hub"
	"github.com/sumi-ripple/ripple/crawl/cluster/node"
	"github.com/sumi-ripple/ripple/schema/config"
)

// defaultListen is the default address of the desk.
const defaultListen = "127.0.0.1:7575"

type serveOptions struct {
	listen string
	open   bool
}

func (o *serveOptions) addFlags(f *pflag.FlagSet) {
	f.StringVar(&o.listen, "listen", "", "listen at `ADDR` (default: [monitor] listen, else "+defaultListen+")")
	f.BoolVar(&o.open, "open", false, "open the browser")
}

func newServeCommand(a *app) *cobra.Command {
	var opts serveOptions
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the map to a browser, and to programs as JSON",
		Long: `Serve the desk until Ctrl-C: the map in the browser, from a state file or a running
crawl, and the same as JSON below /api/v1, described by /api/v1/openapi.json. The
printed address has a ticket after "#" that lets in one browser, once. Programs send
the token printed above it as "Authorization: Bearer TOKEN"; [monitor] token-file
keeps one token for good.
While a crawl runs, /metrics is for Prometheus (authorization, credentials_file).

A state file is only read, and locked only while it is being read, so that a crawl can
begin meanwhile. Of a running crawl, a copy is shown, which is renewed when it is a
minute old; so are the shards in a folder.

With [cluster] hub it serves the shards of the terrain: which machine has which, how far
they are, and which wait for others, with /metrics of that. It hands out copies of the
shards in this machine's folder to the commands that ask about the map, also when no
crawl runs here. The map itself is served once "ripple merge" has made one.

From other machines a desk is reached through ssh -L, or with [monitor] listen,
cert-file and key-file, which are read again when they have changed.`,
		Example: `  ripple serve
  ripple serve --state terrain.bolt --listen 127.0.0.1:8080
  curl -H "Authorization: Bearer $TOKEN" http://127.0.0.1:7575/api/v1/stats`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runServe(cmd.Context(), a, opts) },
	}
	opts.addFlags(cmd.Flags())
	return cmd
}

func runServe(ctx context.Context, a *app, opts serveOptions) error {
	if cfg := a.named.Terrain(); cfg != nil {
		return serveTerrain(ctx, a, cfg, opts)
	}
	path, err := a.named.StatePath()
	if err != nil {
		return err
	}
	if err := serve.MayServe(path); err != nil {
		return err
	}
	cfg := a.named.StateConfig()
	monitor, err := monitorOf(cfg)
	if err != nil {
		return err
	}
	monitor.Listen = cmp.Or(opts.listen, monitor.Listen, defaultListen)
	d, err := serve.OpenDesk(path, cfg, monitor, a.Voice.Logger())
	if err != nil {
		return err
	}
	return serveDesk(a, d, opts, func() error { return d.Serve(ctx) })
}

// serveTerrain serves the desk of a terrain of several machines.
func serveTerrain(ctx context.Context, a *app, cfg *config.Config, opts serveOptions) error {
	t := session.NewTerrainDesk(cfg, func() (*config.Config, error) {
		now, _, err := config.Load(a.named.ConfigOrDefault())
		return now, err
	})
	monitor := cfg.Monitor
	monitor.Listen = cmp.Or(opts.listen, monitor.Listen, defaultListen)
	d, err := t.Listen(a.Voice.Logger(), monitor)
	if err != nil {
		return err
	}
	return session.AtHub(ctx, a.Voice.Logger(), cfg, func(conn *hub.Conn) error {
		t.Look.Conn = conn
		ctx, cancel := context.WithCancel(ctx)
		var g errgroup.Group
		g.Go(func() error { node.Offer(ctx, conn, cfg.Cluster.Folder, a.Voice.Logger()); return nil })
		defer func() { cancel(); _ = g.Wait() }()
		return serveDesk(a, d, opts, func() error { return t.Serve(ctx, d) })
	})
}

// serveDesk prints the address of a desk, and returns when serving does.
func serveDesk(a *app, d *desk.Desk, opts serveOptions, serving func() error) error {
	entrance, err := d.Entrance()
	if err != nil {
		return err
	}
	term.OutliveReaders()
	var g errgroup.Group
	g.Go(serving)
	a.Voice.Say("Ctrl-C ends it")
	fmt.Fprintf(a.stdout, "for programs: %s\nthe desk is at %s\n", d.Programs(), entrance)
	if opts.open {
		defer serve.Browse(d, a.Voice)()
	}
	return g.Wait()
}

// monitorOf returns [monitor] of a configuration, if there is one.
func monitorOf(path string) (config.Monitor, error) {
	if path == "" {
		return config.Monitor{}, nil
	}
	cfg, _, err := config.Load(path)
	if err != nil {
		return config.Monitor{}, err
	}
	return cfg.Monitor, nil
}
