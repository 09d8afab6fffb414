package command

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sumi-ripple/ripple/cmd/ripple/serve"
	"github.com/sumi-ripple/ripple/cmd/ripple/session"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl/control"
	"github.com/sumi-ripple/ripple/export/feed"
)

type feedOptions struct {
	since  string
	follow bool
}

func (o *feedOptions) addFlags(f *pflag.FlagSet) {
	f.StringVar(&o.since, "since", "0", "begin after `CURSOR`, the one in the last line you read")
	f.BoolVar(&o.follow, "follow", false, "keep waiting for further visits, of this crawl and later ones")
}

func newFeedCommand(a *app) *cobra.Command {
	var opts feedOptions
	cmd := &cobra.Command{
		Use:   "feed",
		Short: "Print visits as lines of JSON",
		Long: `Print visits in the order in which they were committed, each as a line of JSON:
url, page_type, depth, referrer, state, metadata, links, run and cursor. Given the
cursor of the last line you read, it continues there; no line is lost or repeated.
It also works during a crawl and never slows it down. What came instead of a page is
its answer: "challenge" of a wall; and for the last visit of a page, once the crawl has
ended, "soft404" and "parked".
With [cluster] hub, the visits of all machines come by run and shard, and a cursor is a
text with a number for each shard; there is no --follow: ask again with the last one.`,
		Example: "  ripple feed > visits.jsonl\n  ripple feed --follow --since 1042 | worker",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return runFeed(cmd.Context(), a, opts) },
	}
	opts.addFlags(cmd.Flags())
	return cmd
}

func runFeed(ctx context.Context, a *app, opts feedOptions) error {
	if cfg := a.named.Terrain(); cfg != nil {
		if opts.follow {
			return term.Usage("--follow is for one state file; of a terrain, ask again with --since and the last cursor")
		}
		return feedError(session.FeedTerrain(ctx, a.states, a.Voice.Logger(), cfg, opts.since, a.stdout))
	}
	since, err := strconv.ParseUint(opts.since, 10, 64)
	if err != nil {
		return term.Usage("--since is %q; it must be a number, 0 or more", term.Clean(opts.since, 40))
	}
	path, err := a.named.StateFile()
	if err != nil {
		return err
	}
	return feedError(serve.NewFeed(a.states, path, since, a.stdout).Write(ctx, opts.follow))
}

// feedError makes the error of an invalid cursor a usage error.
func feedError(err error) error {
	var refused *control.Error
	if errors.Is(err, feed.ErrCursor) || errors.As(err, &refused) && refused.Code == http.StatusBadRequest {
		return term.Usage("--since: %v", err)
	}
	return err
}
