package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/control"
	"github.com/sumi-ripple/ripple/export/feed"
	"github.com/sumi-ripple/ripple/kv"
)

type feedOptions struct {
	since  uint64
	follow bool
}

func (o *feedOptions) addFlags(f *pflag.FlagSet) {
	f.Uint64Var(&o.since, "since", 0, "begin after this `CURSOR`, that of the last line taken")
	f.BoolVar(&o.follow, "follow", false, "wait for further visits, of this crawl and later ones")
}

func newFeedCommand(a *app) *cobra.Command {
	var opts feedOptions
	cmd := &cobra.Command{
		Use:   "feed",
		Short: "Tell visits as lines of JSON",
		Long: `Tell the visits of pages in the order in which they were committed, a line of
JSON for each: url, page_type, depth, referrer, state, metadata, links, run and
cursor. With the cursor of the last line it goes on where it was ended, and no
line is lost or told twice. It works while a crawl runs, which never waits for it.`,
		Example: "  ripple feed > visits.jsonl\n  ripple feed --follow --since 1042 | worker",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return runFeed(cmd.Context(), a, opts) },
	}
	opts.addFlags(cmd.Flags())
	return cmd
}

// askFeed is the question to a running crawl, before the cursor.
const askFeed = "feed "

// errFeedBusy reports a crawl that cannot be asked while it writes its outputs.
var errFeedBusy = errors.New("the crawl writes its outputs")

// feedPause is the time between two looks for further visits.
const feedPause = 500 * time.Millisecond

func runFeed(ctx context.Context, a *app, opts feedOptions) error {
	path, err := a.statePath()
	if err != nil {
		return err
	}
	f := &feeder{path: path, cursor: opts.since, out: bufio.NewWriter(a.stdout)}
	seen := false // a crawl, since the file was last read
	for first := true; ; first = false {
		live, err := f.fromCrawl(ctx)
		seen = seen || live
		switch {
		case err != nil:
			return feedError(err)
		case !live && (first || seen):
			if err := f.fromFile(); err != nil && !(opts.follow && errors.Is(err, kv.ErrLocked)) {
				return feedError(err)
			}
			seen = false
		}
		if !opts.follow {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(feedPause):
		}
	}
}

func feedError(err error) error {
	if strings.Contains(err.Error(), feed.ErrCursor.Error()) {
		return usage("--since: %v", err)
	}
	return err
}

// A feeder tells what comes after its cursor.
type feeder struct {
	path   string
	cursor uint64
	out    *bufio.Writer
}

// fromCrawl tells what a running crawl has committed. It reports whether there is
// one.
func (f *feeder) fromCrawl(ctx context.Context) (bool, error) {
	for {
		var b feed.Batch
		err := control.Ask(ctx, f.path, askFeed+strconv.FormatUint(f.cursor, 10), &b)
		switch {
		case errors.Is(err, control.ErrNobody):
			return false, nil
		case err != nil && (err.Error() == errFeedBusy.Error() || err.Error() == errStarting.Error()):
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

// fromFile tells what a file has that nobody crawls.
func (f *feeder) fromFile() error {
	store, err := openQuiet(f.path)
	if err != nil {
		return err
	}
	defer store.Close()
	cfg, err := lastConfig(store)
	if err != nil {
		return err
	}
	for {
		b, err := feed.Read(store, cfg.Terrain(), f.cursor)
		if err != nil {
			return err
		}
		if err := f.tell(b); err != nil || !b.More {
			return err
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

// feed answers a feeder between two commits.
func (w *walk) feed(cursor string) (any, error) {
	if w.writing.Load() { // or the run had been walked before
		return nil, errFeedBusy
	}
	from, err := strconv.ParseUint(cursor, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("the cursor %q is no number", clean(cursor, 40))
	}
	var b *feed.Batch
	lists := w.cfg.Load().Terrain()
	err = w.crawl.Query(func(store *kv.Store) error {
		var err error
		b, err = feed.Read(store, lists, from)
		return err
	})
	if errors.Is(err, crawl.ErrEnded) {
		return nil, errFeedBusy
	}
	return b, err
}
