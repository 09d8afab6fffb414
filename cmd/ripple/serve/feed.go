package serve

import (
	"context"
	"errors"
	"fmt"

	"github.com/sumi-ripple/ripple/cmd/ripple/desk"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/export/feed"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema/scope"
)

// maxCursor is the number up to which JavaScript represents every integer exactly. No cursor gets there.
const maxCursor = 1 << 53

func feedParams() []desk.Param {
	return []desk.Param{
		{Name: "since", Kind: desk.Number, Default: -1, Least: -1, Most: maxCursor,
			Doc: "a cursor; -1: that of the last visit"},
		{Name: "brief", Kind: desk.Flag, Doc: "without the links of the pages"},
		{Name: "last", Kind: desk.Number, Most: maxRows,
			Doc: "only the last visits, at most this many, without their links; 0: all"},
	}
}

// A FeedQuery asks for the visits after a cursor.
type FeedQuery struct {
	Since uint64 // the cursor, which may be [feed.Newest]
	Brief bool   // without the links of the pages
	Last  uint64 // if not 0: only the last visits, at most this many, without their links
}

// feedQuery returns the query in the parameters [feedParams].
func feedQuery(q desk.Query) FeedQuery {
	f := FeedQuery{feed.Newest, q.Flag("brief"), uint64(q.Number("last"))}
	if n := q.Number("since"); n >= 0 {
		f.Since = uint64(n)
	}
	return f
}

// String returns the query in the form that the control socket, the reader and the desk take.
func (f FeedQuery) String() string {
	cursor := int64(-1)
	if f.Since != feed.Newest {
		cursor = int64(min(f.Since, maxCursor))
	}
	return fmt.Sprintf("feed?since=%d&brief=%t&last=%d", cursor, f.Brief, f.Last)
}

// Short reports whether the query excludes the links of the pages.
func (f FeedQuery) Short() bool { return f.Brief || f.Last > 0 }

// Read reads the visits from a state. judge is nil while a crawl runs, see [feed.Read].
func (f FeedQuery) Read(store *kv.Store, lists *scope.Scope, judge feed.Judge) (*feed.Batch, error) {
	if f.Short() {
		return feed.ReadBrief(store, lists, f.Since, f.Last, judge)
	}
	return feed.Read(store, lists, f.Since, judge)
}

func (o *opened) answerFeed(_ context.Context, q desk.Query) (any, error) {
	b, err := feedQuery(q).Read(o.Store, o.Scope(), o.AnswerTo)
	if errors.Is(err, feed.ErrCursor) {
		return nil, term.Usage("%v", err)
	}
	return b, err
}
