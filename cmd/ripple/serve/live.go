package serve

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"sync"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/cmd/ripple/desk"
	"github.com/sumi-ripple/ripple/crawl/census"
	"github.com/sumi-ripple/ripple/crawl/control"
	"github.com/sumi-ripple/ripple/export/feed"
)

// ErrWriting reports a crawl that cannot be asked for its visits any more.
var ErrWriting = &control.Error{Code: http.StatusServiceUnavailable, Text: "the crawl writes its outputs"}

// KeptVisits are held in memory for those who look on when the walk is over.
const KeptVisits = 200

// A LiveCrawl is the crawl that may be running on a state file, as the desk asks it. What
// only a file knows when the crawl is over, the reader is asked.
type LiveCrawl struct {
	Client *control.Client
	reader *desk.Reader

	mu    sync.Mutex
	ended DeskStatus // of the newest run, as the file said it when it was as follows; of mode "": it was not read
	file  fs.FileInfo
}

// A DeskStatus is what goes on now.
type DeskStatus struct {
	Mode string `json:"mode"` // crawl: one is running; file: none is
	crawlStatus
}

type crawlStatus = census.Status // by whose name its field of that name is not hidden

// idleStatus is the status where no crawl is running and no run is known.
func idleStatus() DeskStatus {
	return DeskStatus{"file", census.Status{Status: "unknown", Errors: map[string]int{},
		Troubles: []census.Trouble{}, Groups: []census.Group{},
		Left: census.Left{Depth: -1, ETAHosts: []census.HostETA{}}}}
}

// EndedStatus is the status of the newest run of a file that nobody crawls.
func EndedStatus(s *answer.Stats) DeskStatus {
	d := idleStatus()
	d.RunID, d.Status, d.Elapsed = s.Run.ID, s.Run.Status, s.Run.Seconds
	d.Pages, d.Requests, d.PagesWaiting = s.Run.Pages, s.Run.Requests, s.Frontier
	d.Rendered, d.Unrendered = s.Run.Rendered, s.Run.Unshown
	d.Left, d.Hosts.GivenUp = s.Left, s.GivenUp
	if s.Run.Errors != nil {
		d.Errors = s.Run.Errors
	}
	if d.ETAHosts == nil {
		d.ETAHosts = []census.HostETA{}
	}
	return d
}

// idle is the status where no crawl is running. The file is read again when it has changed.
func (l *LiveCrawl) idle(ctx context.Context) DeskStatus {
	now, err := os.Stat(l.Client.State)
	if err != nil {
		return idleStatus()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended.Mode != "" && unchanged(l.file, now) {
		return l.ended
	}
	var s answer.Stats
	if err := l.reader.Get(ctx, "stats?limit=1", &s); err != nil || s.Live != nil {
		return idleStatus() // as where a crawl is about to begin
	}
	l.ended, l.file = EndedStatus(&s), now
	return l.ended
}

// unchanged reports whether a file is as it was. A folder does not tell: what is in its files may have changed.
func unchanged(was, now fs.FileInfo) bool {
	return now.Mode().IsRegular() && os.SameFile(now, was) && now.ModTime().Equal(was.ModTime()) &&
		now.Size() == was.Size()
}

// A deskSide is what the desk itself knows: the crawl that may be running, and the file of decisions.
type deskSide struct {
	*LiveCrawl
	*deciding
}

// idleStatus answers where no crawl is running.
func (d *deskSide) idleStatus(ctx context.Context, _ desk.Query) (any, error) {
	return d.idle(ctx), nil
}

// idleFetching answers where no crawl is running.
func (d *deskSide) idleFetching(context.Context, desk.Query) (any, error) {
	return answer.NoFetching(), nil
}

// nobody refuses a command where no crawl is running.
func (d *deskSide) nobody(context.Context, desk.Query) (any, error) {
	return nil, &control.Error{Code: http.StatusConflict, Text: control.ErrNobody.Error()}
}

// crawlStatusNow answers with the status of a running crawl.
func crawlStatusNow(c Crawl, ctx context.Context, q desk.Query) (any, error) {
	s, err := c.Status(ctx, q.Flag("latest"))
	return running(s), err
}

// running is the status of a running crawl. Before the first look at it there are no errors yet.
func running(s census.Status) DeskStatus {
	if s.Errors == nil {
		s.Errors = map[string]int{}
	}
	return DeskStatus{"crawl", s}
}

// crawlRequests answers with the last requests to a host.
func crawlRequests(c Crawl, ctx context.Context, q desk.Query) (any, error) {
	domain, err := answer.HostNamed(q.Text("domain"))
	if err != nil {
		return nil, err
	}
	return c.Requests(ctx, domain)
}

// Status tells what went on a moment ago, and whether visits may come. Nobody looks for
// its sake.
func (l *LiveCrawl) Status(ctx context.Context) (status any, runs bool, err error) {
	var s DeskStatus
	if err := l.Client.Get(ctx, "status?latest=1", &s); errors.Is(err, control.ErrNobody) {
		return l.idle(ctx), false, nil
	} else if err != nil {
		return nil, false, answerable(err)
	}
	return s, s.Status != "writing", nil
}

// Feed tells visits after a cursor, without their links. Of a crawl that is over and writes
// its outputs those are told that it holds, and how many it does not.
func (l *LiveCrawl) Feed(ctx context.Context, since uint64) (*feed.Batch, error) {
	b, err := l.visits(ctx, since, 0)
	var e *control.Error
	if errors.As(err, &e) && *e == *ErrWriting {
		return l.visits(ctx, since, KeptVisits)
	}
	return b, err
}

// Last tells the last visits after a cursor.
func (l *LiveCrawl) Last(ctx context.Context, since, most uint64) (*feed.Batch, error) {
	return l.visits(ctx, since, most)
}

// visits asks the crawl, or the reader where none runs.
func (l *LiveCrawl) visits(ctx context.Context, since, last uint64) (*feed.Batch, error) {
	var b feed.Batch
	what := FeedQuery{Since: since, Brief: true, Last: last}.String()
	err := l.Client.Get(ctx, what, &b)
	if errors.Is(err, control.ErrNobody) {
		err = l.reader.Get(ctx, what, &b)
	}
	return &b, err
}

// metrics are those of the running crawl; a file has none.
func (l *LiveCrawl) metrics(ctx context.Context) ([]byte, error) {
	text, err := l.Client.Metrics(ctx)
	if errors.Is(err, control.ErrNobody) {
		err = &control.Error{Code: http.StatusServiceUnavailable, Text: "no crawl is running"}
	}
	return text, err
}
