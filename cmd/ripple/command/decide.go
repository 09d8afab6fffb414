package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/cmd/ripple/decide"
	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema/config"
	"github.com/sumi-ripple/ripple/schema/decision"
)

type decideOptions struct {
	edit   config.DecisionEdit // of the host in the arguments
	from   string
	dryRun bool
	seen   string
	undo   string
	json   bool
}

func (o *decideOptions) addFlags(f *pflag.FlagSet) {
	f.StringArrayVar(&o.edit.Seeds, "seed", nil, "begin at `URL` (quality; else at https://HOST/); may be repeated")
	f.StringArrayVar(&o.edit.Tags, "tag", nil, "tag the host with `WORD`; may be repeated; '' removes all tags")
	f.StringVar(&o.edit.Note, "note", "", "add the note `TEXT` to the host; '' removes it")
	f.StringVar(&o.from, "from", "",
		"make all decisions of `FILE`, written as [[decision]] entries, or none; - reads standard input")
	f.BoolVar(&o.dryRun, "dry-run", false, "show what would come and go, and write nothing")
	f.StringVar(&o.seen, "if-version", "",
		"refuse if the file has changed since a dry run, whose --json gave its `VERSION`")
	f.StringVar(&o.undo, "undo", "",
		"undo the decisions whose --json is in `FILE`: their file becomes what it was, byte for byte")
	f.BoolVar(&o.json, "json", false, "print JSON")
}

func newDecideCommand(a *app) *cobra.Command {
	var opts decideOptions
	cmd := &cobra.Command{
		Use:   "decide {HOST CLASS | --from FILE | --undo FILE}",
		Short: "Decide what a host is: quality, blacklist, stub or later",
		Long: `Decide what HOST is, in place of what the lists of the configuration say; url patterns
still come first. "quality" makes it an origin, "later" changes no class and keeps it
from being suggested, "none" removes the decision. It is written to the file that
[decisions] names, whose comments and other entries stay, and is then applied as by
"ripple reclassify", or at once by a running crawl. Tags and notes appear in every
export. With --from up to 1,000 decisions are made together: all of them or none.
What --json prints undoes them, with --undo, unless their file has changed since.

Without such a file, or without a configuration, the entry is only shown, and the exit
code is 2. If the map holds a part of a terrain, the decision cannot be applied, and
nothing is written. With [cluster] hub it is written on this machine: once all machines
have it, reload once.`,
		Example: `  ripple decide radio.example.org quality --tag radio --note "asked Ada"
  ripple decide shop.example.com blacklist --dry-run
  ripple decide blog.example.net quality --seed https://blog.example.net/archive/
  ripple decide --from chosen.toml`,
		Args: func(cmd *cobra.Command, args []string) error {
			if opts.from != "" || opts.undo != "" {
				return cobra.NoArgs(cmd, args)
			}
			return cobra.ExactArgs(2)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			given := func(flag string) bool { return cmd.Flags().Changed(flag) }
			opts.edit.Given = map[string]bool{"seeds": given("seed"), "tags": given("tag"), "note": given("note")}
			return runDecide(cmd.Context(), a, opts, args)
		},
	}
	opts.addFlags(cmd.Flags())
	return cmd
}

func runDecide(ctx context.Context, a *app, opts decideOptions, args []string) error {
	edits, undo, err := opts.edits(args)
	if err != nil {
		return err
	}
	path, err := a.named.ConfigPath(nil)
	if err != nil {
		return err
	}
	cfg, err := decisionsOf(a, path, opts.json)
	if err != nil {
		return err
	}
	d := &decide.Decider{Voice: a.Voice, Stdout: a.stdout, States: a.states, JSON: opts.json, Path: path, Cfg: cfg,
		Edits: edits, Undo: undo}
	if cfg != nil {
		tellNear(a, cfg.State.Path, edits)
	}
	var unsaved error
	switch {
	case cfg == nil || cfg.Decisions.File == "":
		if err = d.Show(); opts.dryRun {
			a.Voice.Say(d.Result.Why)
		} else {
			unsaved = term.Usage("%s", d.Result.Why)
		}
	case opts.dryRun:
		err = d.Foretell(ctx)
	default:
		err = d.Write(ctx, opts.seen)
	}
	if err == nil && opts.json {
		err = term.PrintJSON(a.stdout, d.Result)
	}
	return cmp.Or(err, unsaved)
}

// tellNear reports a host that is not on the map, if hosts there have similar names. It does not wait for a crawl.
func tellNear(a *app, state string, edits []config.DecisionEdit) {
	store, err := kv.Open(state, kv.Options{ReadOnly: true, Timeout: 50 * time.Millisecond})
	if err != nil {
		return
	}
	defer store.Close()
	for _, e := range edits {
		name := e.Host.String()
		near, err := answer.NearHosts(store, name)
		if err != nil || len(near) == 0 {
			continue
		}
		a.Voice.Tell(term.Event("host is not on the map", fmt.Sprintf("%s is not on the map; did you mean %s?",
			term.ShownHost(name, 253), strings.Join(term.ShownHosts(near), ", ")), "host", name, "near", near))
	}
}

// edits returns the decisions to make, from the arguments or from a file, and the patch if they undo earlier ones (nil
// otherwise).
func (o *decideOptions) edits(args []string) ([]config.DecisionEdit, *decision.Patch, error) {
	switch {
	case o.undo != "":
		return o.readUndo()
	case o.from != "":
		edits, err := o.read()
		return edits, nil, err
	}
	host, class, err := decide.Parse(args[0], args[1])
	if err != nil {
		return nil, nil, err
	}
	e := o.edit
	e.Host, e.Class, e.Seeds, e.Tags = host, class, decide.WithoutEmpty(e.Seeds), decide.WithoutEmpty(e.Tags)
	if class != config.DecidedQuality && len(e.Seeds) > 0 {
		return nil, nil, term.Usage("--seed: only quality has seeds, not %s", class)
	}
	return []config.DecisionEdit{e}, nil, nil
}

func (o *decideOptions) read() ([]config.DecisionEdit, error) {
	name, text, err := o.file("from", o.from)
	if err != nil {
		return nil, err
	}
	return decide.Read(name, text)
}

func (o *decideOptions) readUndo() ([]config.DecisionEdit, *decision.Patch, error) {
	if o.from != "" || o.seen != "" {
		return nil, nil, term.Usage("--undo: its file says what was decided, and in which version")
	}
	name, text, err := o.file("undo", o.undo)
	if err != nil {
		return nil, nil, err
	}
	edits, patch, version, err := decide.ReadUndo(name, text)
	o.seen = version
	return edits, patch, err
}

// file reads the file of a flag; "-" is standard input. No other flag may say what the file says.
func (o *decideOptions) file(flag, path string) (name string, text []byte, err error) {
	for other, key := range map[string]string{"seed": "seeds", "tag": "tags", "note": "note"} {
		if o.edit.Given[key] {
			return "", nil, term.Usage("--%s: with --%s, the file has %s", other, flag, key)
		}
	}
	file, name := os.Stdin, "standard input"
	if path != "-" {
		if file, err = os.Open(path); err != nil {
			return "", nil, term.WrongConfig(err)
		}
		defer file.Close()
		name = path
	}
	if text, err = io.ReadAll(io.LimitReader(file, decide.MostText+1)); err != nil {
		return "", nil, term.WrongConfig(err)
	}
	return name, text, nil
}

// decisionsOf reads the configuration of a decision, nil if there is none. Advice for people is
// left out for a program.
func decisionsOf(a *app, path string, program bool) (*config.Config, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) && a.named.Config == "" {
		return nil, nil
	}
	if program {
		cfg, _, err := config.Load(path)
		return cfg, err
	}
	return statefile.LoadConfig(path, a.Voice)
}
