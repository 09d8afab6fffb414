package serve

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"time"

	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/crawl/control"
	"github.com/sumi-ripple/ripple/export/feed"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
)

// feedPause is the time between two checks for further visits.
const feedPause = 500 * time.Millisecond

// A Feed writes the visits after its cursor, as lines of JSON.
type Feed struct {
	path   string
	crawl  *control.Client
	cursor uint64
	out    *bufio.Writer
}

// NewFeed returns the feed of a state file after a cursor.
func NewFeed(from statefile.Files, path string, since uint64, w io.Writer) *Feed {
	return &Feed{path: path, crawl: from.CrawlOf(path), cursor: since, out: bufio.NewWriter(w)}
}

// Write writes all visits after the cursor, from a running crawl or from the file. With follow, it waits for further
// ones until ctx is done.
func (f *Feed) Write(ctx context.Context, follow bool) error {
	var was fs.FileInfo          // the file, when it was read
	unread, begun := true, false // the file as it is now; a crawl took it before everything was written
	for {
		now, gone := os.Stat(f.path)
		live, err := f.fromCrawl(ctx)
		unread = unread || live || gone == nil && !unchanged(was, now)
		again := false // the file, which another process has locked
		if err == nil && !live && unread {
			was, err = now, f.fromFile(ctx)
			begun = begun || errors.Is(err, errBegun)
			again = errors.Is(err, errBegun) || (follow || begun) && errors.Is(err, kv.ErrLocked)
			unread = again
		}
		if err != nil && !again {
			return err
		}
		if !follow && !again {
			return nil
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
}

// fromCrawl writes what a running crawl has committed. It reports whether one is running.
func (f *Feed) fromCrawl(ctx context.Context) (bool, error) {
	for {
		var b feed.Batch
		var refused *control.Error
		err := f.crawl.Get(ctx, FeedQuery{Since: f.cursor}.String(), &b)
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

// fromFile writes the visits of a file that is not being crawled. The reader may take long for a
// batch. Meanwhile the file is not locked, and fromFile fails with [errBegun] if a crawl starts.
func (f *Feed) fromFile(ctx context.Context) error {
	store, err := statefile.OpenQuiet(f.path)
	if err != nil {
		return err
	}
	defer store.Close()
	s, err := survey.New(store)
	if err != nil {
		return err
	}
	for {
		b, err := feed.Read(store, s.Scope(), f.cursor, s.AnswerTo)
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

// tell writes the lines of a batch.
func (f *Feed) tell(b *feed.Batch) error {
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
