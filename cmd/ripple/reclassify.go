package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

type reclassifyOptions struct {
	dryRun bool
	json   bool
}

func (o *reclassifyOptions) addFlags(f *pflag.FlagSet) {
	f.BoolVar(&o.dryRun, "dry-run", false, "show what would change, and write nothing")
	f.BoolVar(&o.json, "json", false, "print JSON, with every page that changes")
}

func newReclassifyCommand(a *app) *cobra.Command {
	var opts reclassifyOptions
	cmd := &cobra.Command{
		Use:   "reclassify [CONFIG]",
		Short: "Apply changed lists to the map, without asking a server",
		Long: `Apply the lists and limits in CONFIG (config.toml if none is named) to the pages
already known. Classes, depths and the queue are worked out from the recorded links;
no server is asked, and visited pages keep their facts. The next "ripple crawl"
visits pages that have come within reach, and "ripple export" rewrites the outputs.
A running crawl does the same on SIGHUP.`,
		Example: "  ripple reclassify config.toml --dry-run\n  ripple reclassify config.toml && ripple export",
		Args:    cobra.MaximumNArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return runReclassify(cmd.Context(), a, opts, args) },
	}
	opts.addFlags(cmd.Flags())
	return cmd
}

func runReclassify(ctx context.Context, a *app, opts reclassifyOptions, args []string) error {
	path, err := a.named.ConfigPath(args)
	if err != nil {
		return err
	}
	cfg, err := statefile.LoadConfig(path, a.voice)
	if err != nil {
		return err
	}
	if cfg.Cluster.Hub != "" {
		return term.Usage("%s is for several machines; \"ripple reload\" has those that crawl follow it", term.Shown(path))
	}
	state := cfg.State.Path
	if opts.dryRun {
		copied, remove, err := a.states.WorkingCopy(ctx, state)
		if err != nil {
			return err
		}
		defer remove()
		state = copied
	} else if err := statefile.MustExist(state); err != nil {
		return err
	}
	err = reclassify(state, cfg, func(store *kv.Store, change *reclassified) error {
		if opts.json {
			return change.writeJSON(a.stdout, store)
		}
		return term.Flushed(a.stdout, func(w io.Writer) error { return change.print(w, store, opts.dryRun) })
	})
	if errors.Is(err, kv.ErrLocked) {
		return term.Hint(err, "a crawl that is running follows it by: ripple reload --state %s", term.Shown(state))
	}
	return err
}

// reclassify applies a configuration to a state file that nobody crawls, and has told what
// changed while the file is open.
func reclassify(state string, cfg *config.Config, tell func(*kv.Store, *reclassified) error) error {
	store, err := statefile.OpenLocked(state, kv.Options{})
	if err != nil {
		return err
	}
	defer store.Close()
	change, err := reclassifyStore(store, cfg)
	if err != nil {
		return err
	}
	return tell(store, change)
}

// reclassifyStore applies a configuration to a store and compares before and after.
func reclassifyStore(store *kv.Store, cfg *config.Config) (*reclassified, error) {
	cfg, err := withKeptSeeds(store, cfg)
	if err != nil {
		return nil, err
	}
	before, err := standings(store)
	if err != nil {
		return nil, err
	}
	run, err := crawl.Reclassify(store, cfg)
	if err != nil {
		return nil, err
	}
	after, err := standings(store)
	if err != nil {
		return nil, err
	}
	r := compareStandings(before, after)
	r.Run, r.Status = int(run.ID), run.Status.String()
	return r, nil
}

// withKeptSeeds adds the seeds that the last run has beside those of its
// configuration.
func withKeptSeeds(store *kv.Store, cfg *config.Config) (*config.Config, error) {
	var kept extraSeeds
	err := store.View(func(tx *kv.Tx) error {
		runs, err := tx.Runs.All()
		if err != nil || len(runs) == 0 {
			return err
		}
		text, err := tx.Meta.Value(metaSeeds)
		if err == nil && text != nil {
			err = json.Unmarshal(text, &kept)
		}
		if kept.Run != runs[len(runs)-1].ID {
			kept.URLs = nil
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return kept.joinKept(cfg, 0)
}

// A standing is what lists and depths make of a page.
type standing struct {
	page  bool
	class schema.Class
	state schema.State
	waits bool
	depth uint8
}

// standings returns those of all pages, by id.
func standings(store *kv.Store) ([]standing, error) {
	s, err := survey.New(store)
	if err != nil {
		return nil, err
	}
	s.Interrupt()
	all := make([]standing, store.URLs()+1)
	return all, s.EachPage(func(p *survey.Page) error {
		all[p.ID] = standing{true, p.Class, p.State, p.Waits(), p.Depth}
		return nil
	})
}
