package serve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"sync"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/cmd/ripple/desk"
	"github.com/sumi-ripple/ripple/crawl/census"
	"github.com/sumi-ripple/ripple/crawl/control"
	"github.com/sumi-ripple/ripple/export/feed"
)

// fetchingRoute tells a desk what the running crawl fetches.
func (l *LiveCrawl) fetchingRoute() desk.Route {
	return desk.Route{Name: "fetching", Method: http.MethodGet, Path: "fetching", Returns: answer.Fetching{},
		Doc: "The requests of the running crawl that are open now, the oldest first; none where no crawl is running.",
		Answer: func(ctx context.Context, _ desk.Query) (any, error) {
			f := answer.NoFetching()
			err := l.Client.Get(ctx, "fetching", &f)
			if errors.Is(err, control.ErrNobody) {
				err = nil
			}
			return &f, answerable(err)
		}}
}

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
	if l.ended.Mode != "" && Unchanged(l.file, now) {
		return l.ended
	}
	var s answer.Stats
	if err := l.reader.Get(ctx, "stats?limit=1", &s); err != nil || s.Live != nil {
		return idleStatus() // as where a crawl is about to begin
	}
	l.ended, l.file = EndedStatus(&s), now
	return l.ended
}

// Unchanged reports whether a file is as it was. A folder does not tell: what is in its files may have changed.
func Unchanged(was, now fs.FileInfo) bool {
	return now.Mode().IsRegular() && os.SameFile(now, was) && now.ModTime().Equal(was.ModTime()) &&
		now.Size() == was.Size()
}

// routes are what is asked of the running crawl, and told it.
func (l *LiveCrawl) routes() []desk.Route {
	status := func(ctx context.Context, _ desk.Query) (any, error) {
		s, _, err := l.now(ctx, "status")
		return s, err
	}
	all := []desk.Route{{Name: "status", Method: http.MethodGet, Path: "status", Returns: DeskStatus{}, Answer: status,
		Doc: "What the crawl does now, and why nothing is being fetched. " +
			"Where none is running mode is \"file\", and run_id, status (completed or interrupted; running: shards in " +
			"a folder are being crawled) and counts are those of the newest run; \"unknown\": the file cannot be read."}}
	all = append(all, l.fetchingRoute(), namesRoute())
	for name, doc := range map[string]string{
		"pause":   "Have the crawl send no further request.",
		"unpause": "Have the crawl go on.",
		"stop":    "End the crawl; it can be resumed.",
		"reload":  "Have the crawl read its configuration again.",
	} {
		all = append(all, desk.Route{Name: name, Method: http.MethodPost, Path: name, Doc: doc, Returns: DeskStatus{},
			Answer: func(ctx context.Context, _ desk.Query) (any, error) { return l.tell(ctx, name) }})
	}
	return all
}

// first are what the crawl answers while it runs, and the reader afterwards.
func (l *LiveCrawl) first() map[string]func(context.Context, desk.Query) (any, error) {
	return map[string]func(context.Context, desk.Query) (any, error){
		"feed": func(ctx context.Context, q desk.Query) (any, error) {
			var b feed.Batch
			return &b, l.Ask(ctx, FeedQuestion(cursorOf(q), q.Flag("brief"), uint64(q.Number("last"))), &b)
		},
		"origins": func(ctx context.Context, _ desk.Query) (any, error) {
			var list answer.OriginList
			return &list, l.Ask(ctx, "origins", &list)
		},
		"requests": func(ctx context.Context, q desk.Query) (any, error) {
			domain, err := answer.HostNamed(q.Text("domain"))
			if err != nil {
				return nil, answerable(err)
			}
			var list answer.RequestList
			return &list, l.Ask(ctx, "hosts/"+url.PathEscape(domain)+"/requests", &list)
		},
	}
}

// cursorOf is the cursor that a query names.
func cursorOf(q desk.Query) uint64 {
	if n := q.Number("since"); n >= 0 {
		return uint64(n)
	}
	return feed.Newest
}

// FeedQuestion asks for visits, as the control socket takes it.
func FeedQuestion(since uint64, brief bool, last uint64) string {
	what := fmt.Sprintf("feed?since=%d&last=%d", since, last)
	if brief {
		what += "&brief=1"
	}
	return what
}

// Ask asks the crawl; it fails with [desk.ErrApart] where none is running.
func (l *LiveCrawl) Ask(ctx context.Context, what string, v any) error {
	err := l.Client.Get(ctx, what, v)
	if errors.Is(err, control.ErrNobody) {
		return desk.ErrApart
	}
	return answerable(err)
}

// Status tells what went on a moment ago, and whether visits may come. Nobody looks for
// its sake.
func (l *LiveCrawl) Status(ctx context.Context) (status any, runs bool, err error) {
	return l.now(ctx, "status?latest=1")
}

func (l *LiveCrawl) now(ctx context.Context, what string) (status any, runs bool, err error) {
	s := DeskStatus{Mode: "crawl"}
	if err := l.Client.Get(ctx, what, &s.crawlStatus); errors.Is(err, control.ErrNobody) {
		return l.idle(ctx), false, nil
	} else if err != nil {
		return nil, false, answerable(err)
	}
	return s.whole(), s.Status != "writing", nil
}

// whole is a status of which no list is missing, as before the first look at a crawl.
func (s DeskStatus) whole() DeskStatus {
	if s.Errors == nil {
		s.Errors = map[string]int{}
	}
	return s
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
	what := FeedQuestion(since, true, last)
	err := l.Client.Get(ctx, what, &b)
	if !errors.Is(err, control.ErrNobody) {
		return &b, err
	}
	if since == feed.Newest {
		what = "feed?since=-1"
	}
	return &b, l.reader.Get(ctx, what, &b)
}

// tell tells the crawl to do something.
func (l *LiveCrawl) tell(ctx context.Context, what string) (any, error) {
	s := DeskStatus{Mode: "crawl"}
	err := l.Client.Post(ctx, what, &s.crawlStatus)
	if errors.Is(err, control.ErrNobody) {
		err = &control.Error{Code: http.StatusConflict, Text: err.Error()}
	}
	return s.whole(), answerable(err)
}

// metrics are those of the running crawl; a file has none.
func (l *LiveCrawl) metrics(ctx context.Context) ([]byte, error) {
	text, err := l.Client.Metrics(ctx)
	if errors.Is(err, control.ErrNobody) {
		err = &control.Error{Code: http.StatusServiceUnavailable, Text: "no crawl is running"}
	}
	return text, err
}
