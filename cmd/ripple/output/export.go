package output

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/pflag"

	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/schema/config"
)

// Options are the options of an export.
type Options struct {
	Force bool
	check bool
	Graph *GraphOptions
	paths map[string]*string // by format

	progress export.Progress
}

// AddFlags adds the flags of all formats.
func (o *Options) AddFlags(f *pflag.FlagSet) {
	o.paths = map[string]*string{}
	for _, format := range Formats() {
		if format.Flag != "" {
			o.paths[format.Flag] = f.String(format.Flag, "", format.usage)
		}
	}
	o.Graph = NewGraphOptions()
	o.Graph.addFlags(f)
	f.BoolVar(&o.Force, "force", false, "replace files that Ripple did not write")
	f.BoolVar(&o.check, "check", false, "have SQLite check the database before it gets its name")
}

// A Target is a file to write.
type Target struct {
	format Format
	path   string
	named  string // by what: "--gexf", "[output] graph-path"
}

// WriteTargets writes the targets and prints their names. It returns what the written targets leave
// out.
func (o *Options) WriteTargets(ctx context.Context, v *term.Voice, stdout io.Writer, r *statefile.State,
	targets []Target) (left, err error) {
	for _, t := range targets {
		err := v.During("writing "+term.Shown(t.path), func(p export.Progress) error {
			o.progress = p
			return t.format.Write(ctx, t.path, r.Survey, *o)
		})
		if errors.As(err, new(*UnreadError)) {
			left, err = fmt.Errorf("%s: %w", term.Shown(t.path), err), nil
		}
		if err != nil {
			return left, err
		}
		if _, err := fmt.Fprintln(stdout, term.Shown(t.path)); err != nil {
			return left, err
		}
	}
	return left, nil
}

// ConfiguredTargets returns the files that [output] names.
func ConfiguredTargets(files *statefile.Target, r *statefile.State) (targets []Target, err error) {
	cfg, err := outputConfig(files, r)
	if err != nil {
		return nil, err
	}
	for _, f := range Formats() {
		if f.Path != nil && f.Path(cfg) != "" && !f.AtEnd {
			targets = append(targets, Target{f, f.Path(cfg), f.Key})
		}
	}
	if len(targets) == 0 {
		return nil, term.Usage("[output] names no file; name one, as in: ripple export --sqlite terrain.db")
	}
	return targets, nil
}

// outputConfig returns the configuration that names the outputs: the one by which the state file
// was found, since both may have been moved, or else that of the run.
func outputConfig(files *statefile.Target, r *statefile.State) (*config.Config, error) {
	path := files.StateConfig()
	if _, err := os.Stat(path); files.State != "" || err != nil {
		return r.Config(), nil
	}
	cfg, _, err := config.Load(path)
	return cfg, err
}

// Targets returns the files that flags name, in the order of the formats.
func (o *Options) Targets() []Target {
	var all []Target
	for _, f := range Formats() {
		if path := o.paths[f.Flag]; path != nil && *path != "" {
			all = append(all, Target{f, *path, "--" + f.Flag})
		}
	}
	return all
}

// RefuseTargets reports flags that the targets do not support, then the first target that cannot or
// must not be written.
func (o *Options) RefuseTargets(targets []Target, changed []string) error {
	if err := o.Graph.fits(targets, changed); err != nil {
		return err
	}
	for _, t := range targets {
		if err := t.format.RefuseNamed(t.path, o.Force); err != nil {
			return err
		}
	}
	return nil
}
