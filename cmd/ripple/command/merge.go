package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sumi-ripple/ripple/cmd/ripple/output"
	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/kv/merge"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/disk"
)

type mergeOptions struct {
	out     string
	force   bool
	without []string
}

func (o *mergeOptions) addFlags(f *pflag.FlagSet) {
	f.StringVarP(&o.out, "out", "o", "", "write the whole terrain to `FILE`")
	f.BoolVar(&o.force, "force", false, "replace a file that exists, unless it is in use")
	f.StringSliceVar(&o.without, "without", nil, "leave out shards `N,...`, whose files are missing")
}

func newMergeCommand(a *app) *cobra.Command {
	var opts mergeOptions
	cmd := &cobra.Command{
		Use:   "merge DIR|FILE... -o FILE",
		Short: "Merge the shards of a terrain into one state file",
		Long: `Merge the files of all shards of a terrain into one state file, which every command
reads like that of one machine. Each shard must be given once; of a folder, the files
that hold a shard are taken. A shard that is being crawled is read from a copy.

If the file of a shard is missing, there is no whole map. --without makes a map of the
others, which says so: its runs are interrupted without that shard, whose pages are
foreign in it. It can be read like any other, but not crawled.

The new file appears whole or not at all, and the shards stay as they are. Pages that
several machines have stored are found once the segments of all their stores are in the
one folder that [pages] path names. Unsent webhook messages are not copied.`,
		Example: "  ripple merge terrain/ -o terrain.bolt\n" +
			"  ripple merge shard-000.bolt /mnt/b/shard-001.bolt -o terrain.bolt\n" +
			"  ripple merge terrain/ -o partial.bolt --without 3\n" +
			"  ripple export --state terrain.bolt --sqlite terrain.db",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return runMerge(cmd.Context(), a, opts, args) },
	}
	opts.addFlags(cmd.Flags())
	return cmd
}

func runMerge(ctx context.Context, a *app, opts mergeOptions, args []string) error {
	switch {
	case a.named.State != "" || a.named.Config != "":
		return term.Usage("merge reads the files that it is given; leave --state and --config out")
	case opts.out == "":
		return term.Usage("-o FILE is missing: what is to be written")
	}
	opts.out = disk.Behind(opts.out)
	if err := opts.refuse(); err != nil {
		return err
	}
	missing, err := parseShards(opts.without)
	if err != nil {
		return err
	}
	s := statefile.Shards{Missing: missing}
	defer s.Close()
	err = a.Voice.During("writing "+term.Shown(opts.out), func(p export.Progress) error {
		p.At("opening shards", 0, 0)
		if err := s.Open(ctx, a.states, args); err != nil {
			return err
		}
		return s.Write(ctx, opts.out, opts.refuse, p)
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "%s: %s, %s, %s\n", term.Shown(opts.out), term.Count(len(s.All), "shard", "shards"),
		term.Count(s.Urls, "URL", "URLs"), term.Count(s.Visits, "visit", "visits"))
	for _, dir := range s.Without {
		a.Voice.Say("no file in " + dir + " holds a shard; the others hold all")
	}
	if missing != (schema.Shards{}) {
		a.Voice.Say("this map is made without " + missing.Named() + ", and says so: its runs are interrupted")
	}
	if slices.ContainsFunc(s.All, func(one merge.Shard) bool { return one.Live }) {
		a.Voice.Say("a shard is being crawled: this is what was known a moment ago")
	}
	return nil
}

// refuse returns an error if the output cannot or must not be written. Unlike an export, a state
// file cannot be made again, so an existing one is never replaced silently.
func (o *mergeOptions) refuse() error {
	f := output.Format{State: true, Check: func(path string, force bool) error {
		info, err := os.Stat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case !info.Mode().IsRegular():
			return fmt.Errorf("%s is not a file; name another", term.Shown(path))
		case !force:
			return fmt.Errorf("%s exists; name another file, or use --force", term.Shown(path))
		}
		return nil
	}}
	return f.RefuseNamed(o.out, o.force)
}

// parseShards parses shard numbers in the format of [schema.Shards].
func parseShards(texts []string) (schema.Shards, error) {
	var numbers []int
	for _, text := range texts {
		from, to, isRange := strings.Cut(strings.TrimSpace(text), "-")
		if !isRange {
			to = from
		}
		first, err := strconv.ParseUint(from, 10, 8)
		last, err2 := strconv.ParseUint(to, 10, 8)
		if err != nil || err2 != nil || first > last {
			return schema.Shards{}, term.Usage("--without is %q; it must be numbers of shards, like 3 or 2,5-7",
				term.Clean(text, 40))
		}
		for n := first; n <= last; n++ {
			numbers = append(numbers, int(n))
		}
	}
	return schema.ShardsOf(numbers...), nil
}
