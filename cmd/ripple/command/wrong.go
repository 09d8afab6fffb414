package command

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
)

// wrongUse reports wrong arguments of any command as a usage error, with its usage line. Commands
// with subcommands are left out: their own check names the subcommands.
func wrongUse(cmd *cobra.Command) {
	for _, c := range cmd.Commands() {
		wrongUse(c)
		if check := c.Args; check != nil && !c.HasSubCommands() {
			c.Args = func(cmd *cobra.Command, args []string) error {
				if err := check(cmd, args); err != nil {
					return term.Usage("%s; usage: %s", wrongArgs(cmd, args), cmd.UseLine())
				}
				return nil
			}
		}
	}
}

// wrongArgs names the missing or superfluous argument as in the usage line.
func wrongArgs(cmd *cobra.Command, args []string) string {
	wanted := strings.Fields(cmd.Use)[1:]
	switch {
	case len(wanted) > len(args):
		return strings.TrimSuffix(wanted[len(args)], "...") + " is missing"
	case len(wanted) == 0:
		return cmd.CommandPath() + " takes no arguments, but was given " + term.Shown(args[0]) + byFlag(cmd.Name(), args[0])
	case strings.HasPrefix(wanted[len(wanted)-1], "'"):
		return "the statement needs quotes, or the shell cuts it into words"
	}
	return "unexpected argument " + term.Shown(args[len(wanted)])
}

// byFlag returns the flag for a file that was given as an argument; empty: none.
func byFlag(command, name string) string {
	switch info, err := os.Stat(name); {
	case slices.Contains([]string{"demo", "hub", "version"}, command): // they read no such file
		return ""
	case filepath.Ext(name) == ".toml":
		return "; name it with --config"
	case statefile.IsBolt(name), err == nil && info.IsDir():
		return "; name it with --state"
	}
	return ""
}

// wrongFlag explains an error of a flag.
func wrongFlag(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var value *pflag.InvalidValueError
	var missing *pflag.ValueRequiredError
	switch {
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "":
		name := unknown.GetSpecifiedName()
		if near := nearFlags(cmd, name); len(near) > 0 {
			return term.Usage("there is no flag --%s; did you mean --%s?", term.Clean(name, 60), strings.Join(near, " or --"))
		}
		return term.Usage("there is no flag --%s; \"%s --help\" lists the flags", term.Clean(name, 60), cmd.CommandPath())
	case errors.As(err, &unknown):
		return term.Usage("there is no flag -%s; \"%s --help\" lists the flags", term.Clean(unknown.GetSpecifiedName(), 60),
			cmd.CommandPath())
	case errors.As(err, &value):
		return term.Usage("--%s is %q; it must be %s", value.GetFlag().Name, term.Clean(value.GetValue(), 60), mayBe(value))
	case errors.As(err, &missing):
		name, _ := pflag.UnquoteUsage(missing.GetFlag())
		return term.Usage("--%s needs a value: --%[1]s %s", missing.GetFlag().Name, name)
	}
	return term.Usage("%v; \"%s --help\" lists the flags", err, cmd.CommandPath())
}

// mayBe returns the values that a flag takes.
func mayBe(err *pflag.InvalidValueError) string {
	switch err.GetFlag().Value.Type() {
	case "bool":
		return "true or false"
	case "int", "count":
		return "a number"
	case "uint", "uint32", "uint64":
		return "a number, 0 or more"
	}
	return strings.TrimPrefix(err.Unwrap().Error(), "it must be ")
}

// nearFlags returns similar flags, found as cobra finds similar commands.
func nearFlags(cmd *cobra.Command, name string) []string {
	flags := &cobra.Command{SuggestionsMinimumDistance: 2}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		flags.AddCommand(&cobra.Command{Use: f.Name, Run: func(*cobra.Command, []string) {}})
	})
	return flags.SuggestionsFor(name)
}
