package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/sumi-ripple/ripple/cmd/ripple/output"
	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/cluster/hub"
	"github.com/sumi-ripple/ripple/crawl/cluster/lease"
	"github.com/sumi-ripple/ripple/crawl/cluster/node"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/split"
	"github.com/sumi-ripple/ripple/schema/config"
)

// runNode crawls the shards of a terrain that this machine holds.
func runNode(ctx context.Context, v *term.Voice, path string, cfg *config.Config, opts Options) (err error) {
	own, err := ownConfig(cfg, opts)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(own.Cluster.Folder, 0o777); err != nil {
		return err
	}
	view := newNodeView(v, path, own, opts)
	m, shared := term.CrawlMemory(own), view.shared
	view.limitMemory(m)
	if err := m.Refuse(); err != nil {
		return err
	}
	prepare := preparing(ctx, shared)
	if err := prepare(own); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, shared.LeaveBrowsers()) }()
	if _, err := NewSender(own, v.Logger()); err != nil {
		return err
	}
	tellUnwritten(v, cfg)
	tellBeside(v, cfg)
	return view.run(ctx, node.Options{
		Release: term.ThisBuild().Version,
		Folder:  own.Cluster.Folder, Shards: own.Cluster.Shards, MaxShards: own.Cluster.MaxShards,
		NewTerrain: opts.NewTerrain,
		Config:     own, Log: v.Logger(), Shared: shared,
		Timing: opts.Timing(own.Cluster.Lease), Clock: lease.MachineClock(),
		Open: func(path string) (*kv.Store, error) {
			store, err := statefile.OpenLocked(path, kv.Options{Memory: m.OfShard(own.Cluster.Shards)})
			return store, m.Explain(err)
		},
		Prepare: prepare,
	})
}

// preparing returns a function that prepares what a configuration needs, or reports why it is not available here.
func preparing(ctx context.Context, shared *crawl.Shared) func(*config.Config) error {
	return func(cfg *config.Config) error {
		if err := refusePages(cfg.Pages); err != nil {
			return err
		}
		return shared.KeepBrowsers(ctx, cfg)
	}
}

// NodeOf returns the ID of this machine's node, and its name as people see it.
func NodeOf(cfg *config.Config) (id, name string, err error) {
	host, err := os.Hostname()
	if err != nil {
		return "", "", err
	}
	id, err = node.Identify(cfg.Cluster.Folder)
	return id, host + ":" + cfg.Cluster.Folder, err
}

// ownConfig returns the configuration of a node.
func ownConfig(cfg *config.Config, opts Options) (*config.Config, error) {
	if err := refuseNode(opts); err != nil {
		return nil, err
	}
	own := *cfg
	own.Monitor.Listen = cmp.Or(opts.Listen, own.Monitor.Listen)
	return &own, nil
}

// tellUnwritten warns of the files in the configuration that no node writes.
func tellUnwritten(v *term.Voice, cfg *config.Config) {
	var keys []string
	for _, f := range output.Formats() {
		if f.Key != "" && f.Path(cfg) != "" {
			keys = append(keys, f.Key)
		}
	}
	if len(keys) > 0 {
		text := "not written by a node: " + strings.Join(keys, ", ") +
			"; that needs the map that \"ripple merge\" makes"
		v.Warn(term.Event("not written by a node", text, "keys", keys))
	}
	if cfg.Monitor.MetricsCSV != "" {
		v.Warn(term.Event("not written by a node",
			"not written by a node: [monitor] metrics-csv; with [monitor] listen there is /metrics", "keys",
			[]string{"[monitor] metrics-csv"}))
	}
}

// tellBeside warns of a state file of one machine, which a node neither reads nor writes, unless it was split.
func tellBeside(v *term.Voice, cfg *config.Config) {
	if _, err := os.Stat(cfg.State.Path); err != nil {
		return
	}
	if store, err := statefile.OpenQuiet(cfg.State.Path); err == nil {
		refused := split.Refuse(store)
		store.Close()
		if errors.Is(refused, split.ErrSplit) {
			return
		}
	}
	text := fmt.Sprintf("%s is the map of one machine, and is left as it is: with [cluster] hub the machines make "+
		"another map, in %s; \"ripple split\" makes shards of it", term.Shown(cfg.State.Path),
		term.Shown(cfg.Cluster.Folder))
	v.Warn(term.Event("a state file is not used", text, "path", cfg.State.Path))
}

// refuseNode refuses options that several machines do not support.
func refuseNode(opts Options) error {
	switch {
	case opts.Fresh:
		return term.Usage("--fresh replaces one state file; a terrain of several machines starts again with an empty " +
			"[cluster] folder on each and an empty store of the hub")
	case opts.Seeds.File != "":
		return term.Usage("--seeds adds seeds for one machine; with [cluster] hub put them into the configuration of all")
	}
	return nil
}

// hubError adds advice to the error of a hub that cannot be reached or understood.
func hubError(err error) error {
	switch {
	case errors.Is(err, hub.ErrAway):
		return term.Hint(err, "start one with \"ripple hub\" if none runs, or change [cluster] hub")
	case errors.Is(err, hub.ErrRefused):
		return term.Hint(term.WrongConfig(err),
			"[cluster] credentials must name the token file whose path \"ripple hub\" prints, "+
				"or a copy of it")
	case errors.Is(err, hub.ErrFile):
		return term.Hint(term.WrongConfig(err), "change it, or [cluster] credentials")
	case errors.Is(err, hub.ErrTrust):
		return term.Hint(err, "it must be valid, for the host that [cluster] hub names, and vouched for by [cluster] ca-file")
	case errors.Is(err, node.ErrProtocol):
		return term.Hint(err, "use one release on all machines; if all have the new one, stop the hub and delete "+
			"its store: everything that matters is in the machines' files")
	}
	return err
}

// nodeError adds advice to the error of a node that does not fit its terrain.
func nodeError(cfg *config.Config, err error) error {
	folder := term.Shown(cfg.Cluster.Folder)
	var held *lease.HeldError
	switch {
	case errors.Is(err, node.ErrTerrain):
		if has, err2 := node.HasShards(cfg.Cluster.Folder); err2 == nil && has {
			return term.Hint(err, "keep %s: it is a part of the map. Use the hub of its terrain. If another terrain was begun "+
				"there by mistake, stop the machines, delete the hub's store and the folders of the other terrain, and start "+
				"the machines that have shards first", folder)
		}
		return term.Hint(err, "use the hub of that terrain, or, as there are no shards in %s, remove its %s to join this one",
			folder, node.MarkName)
	case errors.Is(err, node.ErrConfig):
		return term.Hint(term.WrongConfig(err),
			"all machines follow one configuration, except for [state], [output], [monitor], [cluster] and "+
				"the machine's limits; during a run \"ripple reload\" changes it for all")
	case errors.Is(err, crawl.ErrIdentity), errors.Is(err, node.ErrLease):
		return term.Hint(err, "restore them, or begin a new terrain with an empty [cluster] folder on each machine and an "+
			"empty store of the hub")
	case errors.Is(err, node.ErrTwin):
		return term.Hint(err, "both have stopped, because one is a copy of the other: there, delete %s in %s and move the "+
			"shards away; then start both again", node.IDName, folder)
	case errors.Is(err, node.ErrGone):
		return term.Hint(err, "put it into %s, or first start the machine that has it now; if it is gone for good, "+
			"\"ripple shard recreate\" makes another", folder)
	case errors.Is(err, lease.ErrRecreated):
		return term.Hint(err, "it holds nothing that the terrain waits for: move it away")
	case errors.Is(err, lease.ErrFile):
		return term.Hint(err, "put the newest copy of it into %s", folder)
	case errors.As(err, &held):
		return term.Hint(err, "a shard belongs to the machine that has its file; move the copy here away")
	}
	return hubError(err)
}
