package command

import (
	"cmp"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sumi-ripple/ripple/cmd/ripple/docs"
	"github.com/sumi-ripple/ripple/cmd/ripple/session"
	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/cluster/lease"
)

// A Program is where commands write, and how long they wait.
type Program struct {
	Stdout, Stderr io.Writer
	SilentFor      time.Duration // how long work may take before its progress is reported

	// Timing returns the timing of leases of the given length.
	Timing func(length time.Duration) lease.Timing
}

// New returns the program that users run.
func New(stdout, stderr io.Writer) Program {
	return Program{Stdout: stdout, Stderr: stderr, SilentFor: term.SilentFor, Timing: lease.Of}
}

// Run executes a command. If it fails, Run reports why and returns the error.
func (p Program) Run(ctx context.Context, args []string) error {
	a := newApp(p)
	err := a.execute(ctx, args)
	a.Voice.Complain(err)
	return err
}

// An app is one run of a program. All commands share it.
type app struct {
	Program
	stdout *writer
	Voice  *term.Voice
	named  statefile.Target
	states statefile.Files
}

func newApp(p Program) *app {
	v := term.NewVoice(p.Stderr)
	v.SilentFor = p.SilentFor
	return &app{Program: p, stdout: &writer{w: p.Stdout}, Voice: v, states: statefile.Files{Voice: v}}
}

func (a *app) execute(ctx context.Context, args []string) error {
	root := newRootCommand(a)
	root.SetArgs(args)
	root.SetOut(a.stdout)
	root.SetErr(a.Voice.Stderr)
	err := root.ExecuteContext(ctx)
	var sig term.SignalError
	if err != nil && errors.As(context.Cause(ctx), &sig) && !statefile.StoreFailed(err) {
		if errors.Is(err, crawl.ErrNoRoom) { // the loss is reported, and the run can be resumed as after any signal
			a.Voice.Complain(err)
		}
		return sig
	}
	return cmp.Or(err, a.stdout.err)
}

// read opens the state that a command names for reading. That of a terrain is made of copies from all its machines.
func (a *app) read(ctx context.Context) (*statefile.State, error) {
	if cfg := a.named.Terrain(); cfg != nil {
		return session.ReadTerrain(ctx, a.states, a.Voice.Logger(), cfg)
	}
	path, err := a.named.StatePath()
	if err != nil {
		return nil, err
	}
	return a.states.Read(ctx, path)
}

// A writer keeps the first write error. Without the complete output the user has no answer, even if
// the command ignores the error.
type writer struct {
	mu  sync.Mutex
	w   io.Writer
	err error // the first error
}

func (o *writer) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n, err := o.w.Write(b)
	o.err = cmp.Or(o.err, err)
	return n, err
}

func newRootCommand(a *app) *cobra.Command {
	var version bool
	cmd := &cobra.Command{
		Use:   "ripple",
		Short: "Map the terrain of the web around the domains you trust",
		Long: `Ripple crawls the domains you trust completely, follows a few links outward from
them, records who links to whom, and never visits what you told it to leave alone.
The state is one file; SQLite, Markdown and graph files are made from it.`,
		Example: `  ripple demo                      # see it work, on a small built-in web
  ripple check https://a.example/  # find the broken links of a site
  ripple init                      # write config.toml, with every key explained
  ripple crawl config.toml         # Ctrl-C stops it; the same command resumes it
  ripple inspect https://a.example/page
  ripple export --sqlite terrain.db`,
		Args:          unknownCommand,
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			return cmp.Or(a.Voice.Check(), refuseEmpty(cmd.Flags()))
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if version {
				return runVersion(versionOptions{}, a.stdout)
			}
			return cmd.Help()
		},
	}
	cmd.Flags().BoolVarP(&version, "version", "V", false, "print the version")
	a.named.AddFlags(cmd.PersistentFlags())
	a.Voice.AddFlags(cmd.PersistentFlags())
	cmd.SetUsageTemplate(strings.Replace(cmd.UsageTemplate(), inherited, everywhere, 1))
	cmd.SetFlagErrorFunc(wrongFlag)
	addCommands(cmd, a)
	wrongUse(cmd)
	addCompletions(cmd, a)
	addCobras(cmd)
	return cmd
}

// The help of a command has one line in place of the flags of every command, which the help of ripple lists.
const (
	inherited  = "\n\nGlobal Flags:\n{{.InheritedFlags.FlagUsages | trimTrailingWhitespaces}}"
	everywhere = "\n\nFor --config, --state, --log-format, --quiet and --verbose, see \"ripple help\"."
)

// refuseEmpty rejects a flag without a value, which an unset variable produces and which would
// otherwise count as omitted. Only --note may be empty, which removes the note. An empty --without
// of "ripple stop" has a message of its own.
func refuseEmpty(flags *pflag.FlagSet) (err error) {
	flags.Visit(func(f *pflag.Flag) {
		name, _ := pflag.UnquoteUsage(f)
		switch text := f.Value.String(); {
		case text != "" && (text != "[]" || f.Value.Type() != "stringSlice"), name == "TEXT", name == "N,...":
		case name == "DIR":
			err = term.Usage("--%s needs the name of a folder", f.Name)
		case name == "FILE", name == "FILE|-":
			err = term.Usage("--%s needs a file name", f.Name)
		default:
			err = term.Usage("--%s needs a value: --%[1]s %s", f.Name, name)
		}
	})
	return err
}

// addCobras adds cobra's own commands, with the wording and exit codes of the others.
func addCobras(cmd *cobra.Command) {
	cmd.InitDefaultHelpCmd()
	if help, _, err := cmd.Find([]string{"help"}); err == nil {
		help.RunE, help.Example = runHelp, "  ripple help crawl"
		help.Short, help.Long = "Show how a command is used", "Show how a command is used, with examples."
	}
	cmd.InitDefaultCompletionCmd()
	if shells, _, err := cmd.Find([]string{"completion"}); err == nil {
		wrongUse(shells)
		shells.Args = unknownCommand
		shells.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		shells.Example = "  source <(ripple completion bash)\n  ripple completion bash --help   # how to install it"
	}
}

// addCommands adds the commands in the groups of the help.
func addCommands(root *cobra.Command, a *app) {
	groups := []struct {
		title    string
		commands []*cobra.Command
	}{
		{"Crawl:", []*cobra.Command{newDemoCommand(a), newCheckCommand(a), newInitCommand(a), newCrawlCommand(a),
			newImportCommand(a), newRobotsCommand(a)}},
		{"Control a running crawl:", []*cobra.Command{newPauseCommand(a), newResumeCommand(a), newStopCommand(a),
			newReloadCommand(a), newWebhookCommand(a)}},
		{"More than one machine:", []*cobra.Command{newHubCommand(a), newShardCommand(a),
			newSplitCommand(a)}},
		{"Ask about the map:", []*cobra.Command{
			newServeCommand(a), newStatsCommand(a), newInspectCommand(a), newPathCommand(a), newBrokenCommand(a),
			newDuplicatesCommand(a), newInlinksCommand(a), newQueryCommand(a), newSuggestCommand(a),
			newDecideCommand(a),
		}},
		{"Export and compare:", []*cobra.Command{
			newExportCommand(a), newSummaryCommand(a), newDiffCommand(a), newFeedCommand(a),
		}},
		{"Look after a state file:", []*cobra.Command{
			newVerifyCommand(a), newReclassifyCommand(a), newReplayCommand(a), newPruneCommand(a), newMergeCommand(a),
		}},
	}
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		for _, c := range g.commands {
			c.GroupID = g.title
			root.AddCommand(c)
		}
	}
	for _, topic := range docs.Topics() {
		root.AddCommand(&cobra.Command{Use: topic.Name, Short: topic.Title, Long: topic.Text})
	}
	root.AddCommand(newCheckFileCommand(a), newReadTerrainCommand(a), newOrderedCommand(a), newVersionCommand(a),
		formerly("unite", newMergeCommand(a)), formerly("unpause", newResumeCommand(a)))
}

// formerly makes cmd available under an earlier name. It works but is not listed.
func formerly(name string, cmd *cobra.Command) *cobra.Command {
	cmd.Use, cmd.Hidden = strings.Replace(cmd.Use, cmd.Name(), name, 1), true
	return cmd
}

// runHelp shows the help of a command. Unlike cobra's, it rejects unknown commands.
func runHelp(help *cobra.Command, args []string) error {
	cmd, rest, err := help.Root().Find(args)
	if err != nil {
		return term.Usage("%v", err)
	}
	if err := unknownCommand(cmd, rest); err != nil {
		return err
	}
	cmd.InitDefaultHelpFlag()
	return cmd.Help()
}

// unknownCommand rejects an unknown command and suggests similar ones.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		return term.Usage("%q is not a command; did you mean %s?", args[0], strings.Join(near, " or "))
	}
	if err := statefile.NotSite(args[0]); err != nil && !cmd.HasParent() {
		return err
	}
	if !cmd.HasSubCommands() { // the command whose help was requested
		cmd = cmd.Root()
	}
	return term.Usage("%q is not a command; \"%s --help\" lists them", args[0], cmd.CommandPath())
}
