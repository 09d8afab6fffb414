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

// ErrWriting reports a crawl that is over and no longer answers questions about visits.
var ErrWriting = &control.Error{Code: http.StatusServiceUnavailable, Text: "the crawl writes its outputs"}

// KeptVisits is the number of last visits that a crawl keeps in memory after its end, for event
// streams.
const KeptVisits = 200

// A LiveCrawl gets answers from the crawl of a state file or, if none is running, from the reader.
type LiveCrawl struct {
	Client *control.Client
	reader *desk.Reader

	mu    sync.Mutex
	ended DeskStatus // of the newest run, read from file; mode "": not read yet
	file  fs.FileInfo
}

// A DeskStatus is the current state of the crawl of a state file.
type DeskStatus struct {
	Mode string `json:"mode"` // crawl: a crawl is running; file: none is
	crawlStatus
}

type crawlStatus = census.Status // the alias keeps its field Status from being hidden

// unknownStatus is the status if no crawl is running and no run is known.
func unknownStatus() DeskStatus {
	return DeskStatus{"file", census.Status{Status: "unknown", Condition: census.Condition{Name: "unknown",
		Label: "unknown", Headline: "The state cannot be read just now.", Commands: []string{}}, Errors: map[string]int{},
		Troubles: []census.Trouble{}, Groups: []census.Group{},
		Left: census.Left{Depth: -1, ETAHosts: []census.HostETA{}}}}
}

// endedStatus returns the status of the newest run of a file that is not being crawled.
func endedStatus(s *answer.Stats) DeskStatus {
	d := unknownStatus()
	d.RunID, d.Status, d.Elapsed = s.Run.ID, s.Run.Status, s.Run.Seconds
	d.Pages, d.Requests, d.PagesWaiting = s.Run.Pages, s.Run.Requests, s.Frontier
	d.Rendered, d.Unrendered = s.Run.Rendered, s.Run.Unrendered
	d.Left, d.Hosts.GivenUp = s.Left, s.GivenUp
	if s.Run.Errors != nil {
		d.Errors = s.Run.Errors
	}
	d.ETA, d.ETALimit, d.ETAHosts = 0, "", []census.HostETA{} // nothing is being fetched
	d.Condition = answer.ConditionOf(&d.crawlStatus, &s.Run)
	return d
}

// idle returns the status if no crawl is running. The file is read again after a change.
func (l *LiveCrawl) idle(ctx context.Context) DeskStatus {
	now, err := os.Stat(l.Client.State)
	if err != nil {
		return unknownStatus()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended.Mode != "" && unchanged(l.file, now) {
		return l.ended
	}
	var s answer.Stats
	if err := l.reader.Get(ctx, "stats?limit=1", &s); err != nil || s.Live != nil {
		return unknownStatus() // a crawl may be starting
	}
	l.ended, l.file = endedStatus(&s), now
	return l.ended
}

// unchanged reports whether a file has not changed. For a folder it is always false: files in it may have changed.
func unchanged(was, now fs.FileInfo) bool {
	return now.Mode().IsRegular() && os.SameFile(now, was) && now.ModTime().Equal(was.ModTime()) &&
		now.Size() == was.Size()
}

// A deskSide is what the desk itself knows: the crawl that may be running, and the file of decisions.
type deskSide struct {
	*LiveCrawl
	*deciding
}

// idleStatus answers if no crawl is running.
func (d *deskSide) idleStatus(ctx context.Context, _ desk.Query) (any, error) {
	return d.idle(ctx), nil
}

// idleFetching answers if no crawl is running.
func (d *deskSide) idleFetching(context.Context, desk.Query) (any, error) {
	return answer.NoFetching(), nil
}

// nobody rejects a command if no crawl is running.
func (d *deskSide) nobody(context.Context, desk.Query) (any, error) {
	return nil, &control.Error{Code: http.StatusConflict, Text: control.ErrNobody.Error()}
}

// crawlStatusNow answers with the status of a running crawl.
func crawlStatusNow(c Crawl, ctx context.Context, q desk.Query) (any, error) {
	s, err := c.Status(ctx, q.Flag("latest"))
	return running(s), err
}

// running returns the status of a running crawl. Before the first look at it there are no errors
// yet.
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

// Status returns the last known status, and whether more visits may come. It does not make the
// crawl look.
func (l *LiveCrawl) Status(ctx context.Context) (status any, runs bool, err error) {
	var s DeskStatus
	if err := l.Client.Get(ctx, "status?latest=1", &s); errors.Is(err, control.ErrNobody) {
		return l.idle(ctx), false, nil
	} else if err != nil {
		return nil, false, answerable(err)
	}
	return s, s.Status != "writing", nil
}

// Feed returns visits after a cursor, without their links. A crawl that is over and writes its
// outputs returns the visits that it has kept, and the number of those that it has not.
func (l *LiveCrawl) Feed(ctx context.Context, since uint64) (*feed.Batch, error) {
	b, err := l.visits(ctx, since, 0)
	var e *control.Error
	if errors.As(err, &e) && *e == *ErrWriting {
		return l.visits(ctx, since, KeptVisits)
	}
	return b, err
}

// Last returns the last visits after a cursor.
func (l *LiveCrawl) Last(ctx context.Context, since, most uint64) (*feed.Batch, error) {
	return l.visits(ctx, since, most)
}

// visits gets visits from the crawl or, if none is running, from the reader.
func (l *LiveCrawl) visits(ctx context.Context, since, last uint64) (*feed.Batch, error) {
	var b feed.Batch
	what := FeedQuery{Since: since, Brief: true, Last: last}.String()
	err := l.Client.Get(ctx, what, &b)
	if errors.Is(err, control.ErrNobody) {
		err = l.reader.Get(ctx, what, &b)
	}
	return &b, err
}

// metrics returns the metrics of the running crawl.
func (l *LiveCrawl) metrics(ctx context.Context) ([]byte, error) {
	text, err := l.Client.Metrics(ctx)
	if errors.Is(err, control.ErrNobody) {
		err = &control.Error{Code: http.StatusServiceUnavailable, Text: "no crawl is running"}
	}
	return text, err
}
