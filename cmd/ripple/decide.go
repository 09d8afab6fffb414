package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/schema/config"
	"github.com/sumi-ripple/ripple/schema/decision"
	"github.com/sumi-ripple/ripple/schema/scope"
)

type decideOptions struct {
	seeds  []string
	tags   []string
	note   string
	dryRun bool
	seen   string
	json   bool
	given  map[string]bool // flags
}

func (o *decideOptions) addFlags(f *pflag.FlagSet) {
	f.StringArrayVar(&o.seeds, "seed", nil, "begin at `URL` (quality; else at https://HOST/); may be repeated")
	f.StringArrayVar(&o.tags, "tag", nil, "tag the host with `WORD`; may be repeated; '' removes all tags")
	f.StringVar(&o.note, "note", "", "add the note `TEXT` to the host; '' removes it")
	f.BoolVar(&o.dryRun, "dry-run", false, "show what would come and go, and write nothing")
	f.StringVar(&o.seen, "if-version", "",
		"refuse if the file has changed since a dry run, whose --json gave its `VERSION`")
	f.BoolVar(&o.json, "json", false, "print JSON")
}

func newDecideCommand(a *app) *cobra.Command {
	var opts decideOptions
	cmd := &cobra.Command{
		Use:   "decide HOST CLASS",
		Short: "Decide what a host is: quality, blacklist, stub or later",
		Long: `Decide what HOST is, in place of what the lists of the configuration say; url patterns
still come first. "quality" makes it an origin, "later" changes no class and keeps it
from being suggested. The decision is written to the file that [decisions] names, whose
comments and other entries stay, and is then applied as by "ripple reclassify", or at
once by a running crawl. Tags and notes appear in every export.

Without such a file, or without a configuration, the entry is only shown. For a map
that holds part of a terrain, which cannot follow it, nothing is written. With
[cluster] hub it is written on this machine: once all have it, reload once.`,
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
	host, class, err := parseDecision(args[0], args[1])
	if err != nil {
		return err
	}
	if class != config.DecidedQuality && len(withoutEmpty(opts.seeds)) > 0 {
		return term.Usage("--seed: only quality has seeds, not %s", class)
	}
	path, err := a.named.ConfigPath(nil)
	if err != nil {
		return err
	}
	cfg, err := decisionsOf(a, path, opts.json)
	if err != nil {
		return err
	}
	d := &decider{app: a, json: opts.json, path: path, cfg: cfg, host: host, edit: opts.edit(host, class)}
	switch {
	case cfg == nil || cfg.Decisions.File == "":
		err = d.show()
	case opts.dryRun:
		err = d.foretell(ctx)
	default:
		err = d.write(ctx, opts.seen)
	}
	if err != nil || !opts.json {
		return err
	}
	return term.PrintJSON(a.stdout, d.result)
}

// parseDecision reads the arguments.
func parseDecision(name, class string) (scope.Pattern, config.DecidedClass, error) {
	host, _, err := config.ParseDecidedHost(name)
	switch {
	case err != nil:
		return host, "", term.Usage("%v", err)
	case !slices.Contains(config.DecidedClasses(), config.DecidedClass(class)):
		return host, "", term.Usage("%s is not one of quality, blacklist, stub, later", term.Shown(term.Clean(class, 40)))
	}
	return host, config.DecidedClass(class), nil
}

// edit is what the options make of an entry: what they do not name stays.
func (o *decideOptions) edit(host scope.Pattern, class config.DecidedClass) decision.Edit {
	return func(before *config.Decision) config.Decision {
		d := config.Decision{}
		if before != nil {
			d = *before
		}
		d.Host, d.Class = host, class
		if o.given["seed"] {
			d.Seeds = withoutEmpty(o.seeds)
		}
		if class != config.DecidedQuality {
			d.Seeds = nil
		}
		if o.given["tag"] {
			d.Tags = withoutEmpty(o.tags)
		}
		if o.given["note"] {
			d.Note = o.note
		}
		return d
	}
}

func withoutEmpty(all []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return s == "" })
}

// decisionsOf reads the configuration that is decided under; nil: there is none. A program
// is not told what a person might mend.
func decisionsOf(a *app, path string, program bool) (*config.Config, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) && a.named.Config == "" {
		return nil, nil
	}
	if program {
		cfg, _, err := config.Load(path)
		return cfg, err
	}
	return statefile.LoadConfig(path, a.voice)
}

// decideError says what to do about a file of decisions, which the configuration at path names, that cannot be changed.
func decideError(path string, err error) error {
	switch {
	case errors.Is(err, decision.ErrForeign):
		return term.Hint(term.WrongConfig(err), "change it there, and then: ripple reclassify %s", term.Shown(path))
	case errors.Is(err, decision.ErrChanged):
		return term.Hint(err, "nothing was written; try again")
	case errors.Is(err, fs.ErrPermission):
		return term.Hint(err, "ripple needs to write the file, and the folder that it is in")
	}
	return err
}
