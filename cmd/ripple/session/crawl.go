package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/sumi-ripple/ripple/cmd/ripple/output"
	"github.com/sumi-ripple/ripple/cmd/ripple/seeds"
	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl/cluster/lease"
	"github.com/sumi-ripple/ripple/crawl/fetch"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema/config"
)

// Options are the options of a crawl.
type Options struct {
	Fresh      bool
	DryRun     bool
	Resume     bool
	NewTerrain bool // see [node.Options]
	Seeds      seeds.Options
	Listen     string
	Timing     func(lease time.Duration) lease.Timing // see [command.Program]
}

// Crawl runs the crawl that the configuration at path describes.
func Crawl(ctx context.Context, v *term.Voice, stdout io.Writer, path string, opts Options) error {
	if opts.Fresh && opts.Resume {
		return term.Usage("--fresh and --resume are opposites; use one of them")
	}
	cfg, err := statefile.LoadConfig(path, v)
	if err != nil {
		return err
	}
	if err := warnOfProxy(v, cfg); err != nil {
		return err
	}
	if opts.NewTerrain && cfg.Cluster.Hub == "" {
		return term.Usage("--new-terrain is for several machines, which need [cluster] hub; --fresh begins with an empty map")
	}
	extra, err := opts.Seeds.Read()
	if err != nil {
		return err
	}
	if opts.DryRun {
		return runDryRun(ctx, v, stdout, cfg, extra, opts)
	}
	term.OutliveReaders()
	if cfg.Cluster.Hub != "" {
		return runNode(ctx, v, path, cfg, opts)
	}
	if err := output.Refuse(cfg); err != nil {
		return err
	}
	sender, err := NewSender(cfg, v.Logger())
	if err != nil {
		return err
	}
	w := newWalk(v, path, cfg)
	w.sender, w.seeds = sender, extra
	if err := w.openDesk(opts.Listen); err != nil {
		return err
	}
	return w.run(ctx, opts.Fresh)
}

// warnOfProxy warns, if there is a proxy, that only literal addresses can be checked behind it.
func warnOfProxy(v *term.Voice, cfg *config.Config) error {
	proxy, err := fetch.ProxyOf(cfg.Network.Proxy)
	if err == nil && proxy != "" {
		v.Warn(term.Event("behind a proxy only literal addresses can be judged", "behind the proxy "+term.Clean(proxy, 253)+
			" only literal addresses can be judged: have it refuse names that lead to private ones", "proxy", term.Clean(proxy,
			253)))
	}
	return err
}

// openCrawl opens the state file of a crawl, and creates it if necessary.
func openCrawl(v *term.Voice, path string, fresh bool, opts kv.Options) (*kv.Store, error) {
	if err := hasFolder(path); err != nil {
		return nil, err
	}
	if fresh {
		if err := statefile.BeginFresh(v, path); err != nil {
			return nil, err
		}
	}
	return statefile.OpenLocked(path, opts)
}

// hasFolder reports an error if the folder of a state file is missing, or the file is a folder itself.
func hasFolder(path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return statefile.Advise(path, fmt.Errorf("%s is a folder: %w", term.Shown(path), kv.ErrForeign))
	}
	dir := filepath.Dir(path)
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return term.Hint(term.Usage("the folder %s of the state file does not exist", term.Shown(dir)),
			"create it or change [state] path")
	}
	return nil
}
