package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sumi-ripple/ripple/cmd/ripple/serve"
	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl/control"
	"github.com/sumi-ripple/ripple/export/feed"
	"github.com/sumi-ripple/ripple/kv"
)

type feedOptions struct {
	since  uint64
	follow bool
}

func (o *feedOptions) addFlags(f *pflag.FlagSet) {
	f.Uint64Var(&o.since, "since", 0, "begin after `CURSOR`, the one in the last line you read")
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
It also works during a crawl and never slows it down.`,
		Example: "  ripple feed > visits.jsonl\n  ripple feed --follow --since 1042 | worker",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return runFeed(cmd.Context(), a, opts) },
	}
	opts.addFlags(cmd.Flags())
	return cmd
}

// feedPause is the time between two looks for further visits.
const feedPause = 500 * time.Millisecond

func runFeed(ctx context.Context, a *app, opts feedOptions) error {
	path, err := a.named.StateFile()
	if err != nil {
		return err
	}
	f := &feeder{path: path, crawl: a.states.CrawlOf(path), cursor: opts.since, out: bufio.NewWriter(a.stdout)}
	var was fs.FileInfo          // the file, when it was read
	unread, begun := true, false // the file as it is now; a crawl has taken it before all was told
	for {
		now, gone := os.Stat(path)
		live, err := f.fromCrawl(ctx)
		unread = unread || live || gone == nil && !serve.Unchanged(was, now)
		again := false // the file, which somebody else has
		if err == nil && !live && unread {
			was, err = now, f.fromFile(ctx)
			begun = begun || errors.Is(err, errBegun)
			again = errors.Is(err, errBegun) || (opts.follow || begun) && errors.Is(err, kv.ErrLocked)
			unread = again
		}
		if err != nil && !again {
			return feedError(err)
		}
		if !opts.follow && !again {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(feedPause):
		}
	}
}

// feedError says that a cursor is wrong as a wrong use.
func feedError(err error) error {
	var refused *control.Error
	if errors.Is(err, feed.ErrCursor) || errors.As(err, &refused) && refused.Code == http.StatusBadRequest {
		return term.Usage("--since: %v", err)
	}
	return err
}

// A feeder tells what comes after its cursor.
type feeder struct {
	path   string
	crawl  *control.Client
	cursor uint64
	out    *bufio.Writer
}

// fromCrawl tells what a running crawl has committed. It reports whether there is
// one.
func (f *feeder) fromCrawl(ctx context.Context) (bool, error) {
	for {
		var b feed.Batch
		var refused *control.Error
		err := f.crawl.Get(ctx, serve.FeedQuery{Since: f.cursor}.String(), &b)
		switch {
		case errors.Is(err, control.ErrNobody):
			return false, nil
		case errors.As(err, &refused) && refused.Code == http.StatusServiceUnavailable:
			if err := pause(ctx); err != nil {
				return true, err
			}
			continue
		case err != nil:
			return true, err
		}
		if err := f.tell(&b); err != nil || !b.More {
			return true, err
		}
	}
}

func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(feedPause):
		return nil
	}
}

// errBegun reports that a crawl has taken the file between two batches.
var errBegun = errors.New("a crawl has begun")

// fromFile tells what a file has that nobody crawls. Whoever reads may take long for a batch: the
// file is free meanwhile, and fromFile ends with [errBegun] where a crawl has begun.
func (f *feeder) fromFile(ctx context.Context) error {
	store, err := statefile.OpenQuiet(f.path)
	if err != nil {
		return err
	}
	defer store.Close()
	cfg, err := statefile.LastConfig(store)
	if err != nil {
		return err
	}
	for {
		b, err := feed.Read(store, cfg.Scope(), f.cursor)
		if err != nil {
			return err
		}
		lent := store.Lend()
		if err := f.tell(b); err != nil || !b.More {
			return err
		}
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if lent && store.Reclaim() != nil {
			return errBegun
		}
	}
}

// tell writes the lines of a batch, which are then out of our hands.
func (f *feeder) tell(b *feed.Batch) error {
	for _, line := range b.Lines {
		_, _ = f.out.Write(line)
		_ = f.out.WriteByte('\n')
	}
	if err := f.out.Flush(); err != nil {
		return fmt.Errorf("write the feed: %w", err)
	}
	f.cursor = b.Next
	return nil
}
