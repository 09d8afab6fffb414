package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sumi-ripple/ripple/crawl/census"
	"github.com/sumi-ripple/ripple/crawl/control"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema/config"
	"github.com/sumi-ripple/ripple/schema/decision"
	"github.com/sumi-ripple/ripple/schema/terrain"
)

type decideOptions struct {
	seeds  []string
	tags   []string
	note   string
	dryRun bool
	given  map[string]bool // flags
}

func (o *decideOptions) addFlags(f *pflag.FlagSet) {
	f.StringArrayVar(&o.seeds, "seed", nil, "begin at `URL` (quality; else at https://HOST/); may be repeated")
	f.StringArrayVar(&o.tags, "tag", nil, "tag the host with `WORD`; may be repeated; '' takes all tags off")
	f.StringVar(&o.note, "note", "", "note `TEXT` on the host; '' takes the note off")
	f.BoolVar(&o.dryRun, "dry-run", false, "show what would come and go, and write nothing")
}

func newDecideCommand(a *app) *cobra.Command {
	var opts decideOptions
	cmd := &cobra.Command{
		Use:   "decide HOST CLASS",
		Short: "Decide what a host is: quality, blacklist, stub or later",
		Long: `Decide what HOST is, in place of what the lists of the configuration say; url patterns
still come first. "quality" makes it an origin, "later" changes no class and keeps it
from being suggested. The decision is written to the file that [decisions] names, whose
comments and other entries stay, and is then applied as by reclassify, or by a running
crawl at once. Tags and notes stand in every export.

Without such a file, or without a configuration, the entry is only shown.`,
		Example: `  ripple decide radio.example.org quality --tag radio --note "asked Ada"
  ripple decide shop.example.com blacklist --dry-run
  ripple decide blog.example.net quality --seed https://blog.example.net/archive/`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.given = map[string]bool{}
			cmd.Flags().Visit(func(f *pflag.Flag) { opts.given[f.Name] = true })
			return runDecide(cmd.Context(), a, opts, args)
		},
	}
	opts.addFlags(cmd.Flags())
	return cmd
}

func runDecide(ctx context.Context, a *app, opts decideOptions, args []string) error {
	host, class, err := decided(args[0], args[1])
	if err != nil {
		return err
	}
	edit := opts.edit(host, class)
	path, err := a.configPath(nil)
	if err != nil {
		return err
	}
	cfg, err := a.decisionsOf(path)
	if err != nil {
		return err
	}
	if cfg == nil || cfg.Decisions.File == "" {
		return a.showDecision(edit, path, cfg != nil)
	}
	next, d, err := foreseen(cfg, path, host, edit)
	if err != nil {
		return decideError(err)
	}
	if opts.dryRun {
		return dryDecide(ctx, a, next, d)
	}
	if d, err = decision.Write(cfg.Decisions.File, host, edit); err != nil {
		return decideError(err)
	}
	a.tell(remark{fmt.Sprintf("%s is decided: %s, in %s", host, d.Class, shown(cfg.Decisions.File)), "decided",
		[]any{"host", host.String(), "class", string(d.Class), "path", cfg.Decisions.File}})
	return a.applyDecision(ctx, path, next)
}

// decided reads the arguments.
func decided(name, class string) (terrain.Pattern, config.DecidedClass, error) {
	host, _, err := terrain.ParsePattern(name)
	switch {
	case strings.Contains(name, "*"):
		return host, "", usage("%s is a pattern: a decision is on one host, and patterns belong in the configuration",
			shown(clean(name, 253)))
	case err != nil:
		return host, "", usage("%v", err)
	case !slices.Contains(config.DecidedClasses(), config.DecidedClass(class)):
		return host, "", usage("%s is not one of quality, blacklist, stub, later", shown(clean(class, 40)))
	}
	return host, config.DecidedClass(class), nil
}

// edit is what the options make of an entry: what they do not name stays.
func (o *decideOptions) edit(host terrain.Pattern, class config.DecidedClass) decision.Edit {
	return func(before *config.Decision) config.Decision {
		d := config.Decision{}
		if before != nil {
			d = *before
		}
		d.Host, d.Class = host, class
		if o.given["seed"] {
			d.Seeds = o.seeds
		}
		if class != config.DecidedQuality && !o.given["seed"] {
			d.Seeds = nil
		}
		if o.given["tag"] {
			d.Tags = slices.DeleteFunc(slices.Clone(o.tags), func(t string) bool { return t == "" })
		}
		if o.given["note"] {
			d.Note = o.note
		}
		return d
	}
}

// decisionsOf reads the configuration that is decided under; nil: there is none.
func (a *app) decisionsOf(path string) (*config.Config, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) && a.config == "" {
		return nil, nil
	}
	return a.load(path)
}

// showDecision shows an entry that no file can take.
func (a *app) showDecision(edit decision.Edit, path string, configured bool) error {
	d := edit(nil)
	if err := d.Check(); err != nil {
		return decideError(err)
	}
	why := fmt.Sprintf("nothing is written: %s names no [decisions] file", shown(path))
	if !configured {
		why = fmt.Sprintf("nothing is written: there is no %s; name one with --config", shown(path))
	}
	a.say(why)
	return flushed(a.stdout, func(w io.Writer) error { fmt.Fprint(w, d.TOML()); return nil })
}

// foreseen is the configuration with an entry as it would be.
func foreseen(cfg *config.Config, path string, host terrain.Pattern, edit decision.Edit) (
	*config.Config, config.Decision, error,
) {
	file := cfg.Decisions.File
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err != nil {
		return nil, config.Decision{}, err
	}
	text, d, err := decision.Apply(file, text, host, edit)
	if err != nil {
		return nil, d, err
	}
	next, _, err := config.LoadWith(path, map[string][]byte{file: text})
	return next, d, err
}

// dryDecide shows an entry, and what it would change in the map.
func dryDecide(ctx context.Context, a *app, cfg *config.Config, d config.Decision) error {
	if err := flushed(a.stdout, func(w io.Writer) error { fmt.Fprintln(w, d.TOML()); return nil }); err != nil {
		return err
	}
	if _, err := os.Stat(cfg.State.Path); errors.Is(err, fs.ErrNotExist) {
		a.say("nothing has been crawled yet: nothing would change")
		return nil
	}
	copied, remove, err := a.workingCopy(ctx, cfg.State.Path)
	if err != nil {
		return err
	}
	defer remove()
	return a.reclassifyAt(copied, cfg, true)
}

// applyDecision has a decision hold in the map: by the crawl that runs, or as reclassify does.
func (a *app) applyDecision(ctx context.Context, path string, cfg *config.Config) error {
	var st census.Status
	err := a.crawlOf(cfg.State.Path).Post(ctx, "reload", &st)
	switch {
	case err == nil:
		a.say("the running crawl follows it from now on")
		return nil
	case !errors.Is(err, control.ErrNobody):
		return hint(err, "the decision is written; %q applies it", "ripple reload")
	}
	if _, err := os.Stat(cfg.State.Path); errors.Is(err, fs.ErrNotExist) {
		a.say("nothing has been crawled yet: the first crawl follows it")
		return nil
	}
	if err := a.reclassifyAt(cfg.State.Path, cfg, false); err != nil {
		return hint(err, "the decision is written; %q applies it", "ripple reclassify "+shown(path))
	}
	return nil
}

// reclassifyAt applies a configuration to a state file, and prints what changes.
func (a *app) reclassifyAt(state string, cfg *config.Config, dry bool) error {
	store, err := openLocked(state, kv.Options{})
	if err != nil {
		return err
	}
	defer store.Close()
	change, err := reclassify(store, cfg)
	if err != nil {
		return err
	}
	return flushed(a.stdout, func(w io.Writer) error { return change.print(w, store, dry) })
}

// decideError says what to do about a file of decisions that cannot be changed.
func decideError(err error) error {
	switch {
	case errors.Is(err, decision.ErrForeign):
		return hint(fmt.Errorf("%w (%w)", err, errConfig), "change it there, and then: ripple reclassify")
	case errors.Is(err, decision.ErrChanged):
		return hint(err, "nothing was written; try again")
	case errors.Is(err, fs.ErrPermission):
		return hint(err, "ripple needs to write the file, and the folder that it is in")
	}
	return err
}
