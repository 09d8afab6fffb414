package command

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

// addCompletions lets a shell complete the values of flags and the arguments of commands. The
// values of a flag are read from its usage, and the kind of an argument from the usage line.
func addCompletions(root *cobra.Command, a *app) {
	for _, c := range append(root.Commands(), root) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if values := flagValues(f); values != nil {
				_ = c.RegisterFlagCompletionFunc(f.Name, completeWords(f, values)) // the flag exists and has no function yet
			}
		})
		switch _, args, _ := strings.Cut(c.Use, " "); {
		case strings.Contains(args, "HOST CLASS"):
			c.ValidArgsFunction = completeDecision(a)
		case strings.Contains(args, "URL") || strings.Contains(args, "HOST"):
			c.ValidArgsFunction = completeHosts(a)
		case strings.Contains(args, "CONFIG"):
			c.ValidArgsFunction = cobra.FixedCompletions([]string{"toml"}, cobra.ShellCompDirectiveFilterFileExt)
		case args == "":
			c.ValidArgsFunction = cobra.NoFileCompletions
		}
	}
}

// flagValues returns the words that a flag takes: those of `one|other` or, for a list, those after
// the last colon. Words in capitals are placeholders.
func flagValues(f *pflag.Flag) []string {
	name, text := pflag.UnquoteUsage(f)
	words := strings.Split(name, "|")
	if isList(f) {
		words = strings.Split(text[strings.LastIndex(text, ": ")+1:], ",")
		for i, w := range words {
			words[i] = strings.TrimSpace(w)
		}
	} else if len(words) == 1 {
		return nil
	}
	return slices.DeleteFunc(words, func(w string) bool { return w == "" || w == "-" || w != strings.ToLower(w) })
}

func isList(f *pflag.Flag) bool { return f.Value.Type() == "stringSlice" }

// completeWords completes a word, or the last word of a list.
func completeWords(f *pflag.Flag, words []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		before := ""
		if i := strings.LastIndexByte(typed, ','); i >= 0 && isList(f) {
			before = typed[:i+1]
		}
		var all []string
		for _, w := range words {
			if !strings.Contains(","+before, ","+w+",") {
				all = append(all, before+w)
			}
		}
		return all, cobra.ShellCompDirectiveNoFileComp
	}
}

const (
	maxCompleted   = 100 // hosts
	completePeriod = 2 * time.Second
)

// completeHosts completes URLs by the hosts of the state.
func completeHosts(a *app) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		scheme, prefix := "https://", strings.TrimPrefix(typed, "https://")
		switch {
		case strings.HasPrefix(scheme, typed):
			prefix = ""
		case prefix == typed:
			scheme = ""
		}
		names := hostNames(cmd.Context(), a, prefix)
		if len(names) == 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		for i, name := range names {
			names[i] = scheme + name + "/"
		}
		return names, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
}

// completeDecision completes the host of a decision from the state, and then its class.
func completeDecision(a *app) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) (words []string, _ cobra.ShellCompDirective) {
		switch len(args) {
		case 0:
			words = hostNames(cmd.Context(), a, typed)
		case 1:
			for _, class := range config.DecidedClasses() {
				words = append(words, string(class))
			}
		}
		return words, cobra.ShellCompDirectiveNoFileComp
	}
}

// hostNames returns the hosts of the state whose names begin with a prefix. It returns none if the
// state cannot be read.
func hostNames(ctx context.Context, a *app, prefix string) (all []string) {
	ctx, cancel := context.WithTimeout(ctx, completePeriod)
	defer cancel()
	path, err := a.named.StatePath()
	if err != nil {
		return nil
	}
	store, _, err := a.states.Open(ctx, path)
	if err != nil {
		return nil
	}
	defer store.Close()
	_ = store.View(func(tx *kv.Tx) error { // hosts that were read before an error are enough
		return tx.Hosts.Each(1, func(h *schema.Host) (bool, error) {
			if strings.HasPrefix(h.Name, prefix) {
				all = append(all, term.Clean(h.Name, 253))
			}
			return len(all) < maxCompleted && ctx.Err() == nil, nil
		})
	})
	return all
}
