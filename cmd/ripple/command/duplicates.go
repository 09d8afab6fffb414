package command

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/cmd/ripple/serve"
	"github.com/sumi-ripple/ripple/cmd/ripple/show"
	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/schema"
)

type duplicatesOptions struct {
	limit term.Limit
	json  bool
}

func newDuplicatesCommand(a *app) *cobra.Command {
	var opts duplicatesOptions
	cmd := &cobra.Command{
		Use:   "duplicates [HOST]",
		Short: "List the pages whose texts are nearly the same",
		Long: `List the clusters of pages whose texts are nearly the same, on all hosts or with a page
of one: the largest first. A cluster is named after its page that is nearest to an
origin; its other pages follow with the number of bits, of 64, in which the SimHashes
differ. Near-duplicates differ in 3 at most, but a cluster may be a chain of them.
The text is that outside header, footer and navigation; with less than 50 words it
is not compared.

Of a host, only its own pages are listed, and "duplicate_share" in JSON is the part of
its pages with enough text that are near-duplicates of another page. A cluster's
representative, the page it is named after, is not counted.`,
		Example: "  ripple duplicates\n  ripple duplicates example.com --limit 5\n" +
			"  ripple duplicates --json | jq -r '.clusters[] | [.pages, .url] | @tsv'",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return runDuplicates(cmd.Context(), a, opts, args) },
	}
	f := cmd.Flags()
	term.AddLimit(f, &opts.limit, term.Limit(serve.Default("duplicates", "limit")), "clusters, and pages of each")
	f.BoolVar(&opts.json, "json", false, "print JSON")
	return cmd
}

func runDuplicates(ctx context.Context, a *app, opts duplicatesOptions, args []string) error {
	r, err := a.read(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	host := schema.HostID(0)
	for _, raw := range args {
		if host, err = hostOf(r, raw); err != nil {
			return err
		}
	}
	found, err := term.Finding(a.Voice, "comparing texts", func() (*answer.Duplicates, error) {
		return answer.NewDuplicates(r.Survey, host, int(opts.limit))
	})
	switch {
	case err != nil:
		return err
	case opts.json:
		return term.PrintJSON(a.stdout, found)
	case found.Count == 0:
		a.Voice.Say("no pages whose texts are nearly the same")
		return nil
	}
	return show.Duplicates(a.stdout, found)
}

// hostOf returns a host of the map by its name.
func hostOf(r *statefile.State, raw string) (schema.HostID, error) {
	name, err := answer.HostNamed(raw)
	if err != nil {
		return 0, err
	}
	id, known, err := r.Survey.Hosts.Lookup(name)
	if err != nil || known {
		return id, err
	}
	near, err := answer.NearHosts(r.Store, name)
	if err != nil {
		return 0, err
	}
	unknown := term.Usage("there is no host %s on the map", term.ShownHost(name, 253))
	if len(near) == 0 {
		return 0, unknown
	}
	return 0, term.Hint(unknown, "did you mean %s?", strings.Join(term.ShownHosts(near), ", "))
}
