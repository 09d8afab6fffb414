package serve

import (
	"context"
	"errors"
	"net/http"
	"reflect"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/cmd/ripple/desk"
	"github.com/sumi-ripple/ripple/crawl/census"
	"github.com/sumi-ripple/ripple/crawl/control"
	"github.com/sumi-ripple/ripple/export/feed"
)

// A Crawl is a running crawl that answers [questions] at its control socket. Its methods are safe for concurrent use.
type Crawl interface {
	control.Source
	// Status returns the current status, or with latest the last known one.
	Status(ctx context.Context, latest bool) (census.Status, error)
	// Feed returns visits after a cursor.
	Feed(context.Context, FeedQuery) (*feed.Batch, error)
	// Requests returns the last requests to a host.
	Requests(ctx context.Context, domain string) (answer.RequestList, error)
	// History returns the progress of a run over time; 0: of the current one.
	History(ctx context.Context, run int) (answer.History, error)
	// Fetching returns the open requests.
	Fetching(context.Context) (answer.Fetching, error)
	// Origins returns the progress of the run with its origins.
	Origins(context.Context) (answer.OriginList, error)
	Pause(context.Context) (census.Status, error)
	Unpause(context.Context) (census.Status, error)
	Stop(context.Context) (census.Status, error)
	Reload(context.Context) (census.Status, error)
}

// CrawlHandler serves the control socket of a crawl.
func CrawlHandler(c Crawl) http.Handler {
	mux := http.NewServeMux()
	for _, q := range questions() {
		if q.crawl == nil {
			continue
		}
		q.Params = append(q.Params, q.inner...)
		mux.HandleFunc(q.Method+" "+control.Root+q.Path, func(w http.ResponseWriter, r *http.Request) {
			asked, err := q.Parse(r)
			var v any
			if err == nil {
				v, err = q.crawl(c, r.Context(), asked)
			}
			if err != nil {
				control.Refuse(w, answerable(err))
				return
			}
			control.Reply(w, v)
		})
	}
	mux.HandleFunc("/", control.Unknown)
	return control.NewHandler(c, mux)
}

// stateRoutes returns the questions that t answers in the process that reads a state.
func stateRoutes(t *terrainReader) []desk.Route {
	var all []desk.Route
	for _, q := range questions() {
		if q.state != nil {
			q.Apart, q.Answer = true, t.of(q.state)
			all = append(all, q.Route)
		}
	}
	return all
}

// deskRoutes returns all questions, as the desk answers them.
func deskRoutes(d *deskSide) []desk.Route {
	var all []desk.Route
	for _, q := range questions() {
		q.Apart = q.state != nil
		if q.crawl != nil || q.desk != nil {
			q.Answer = func(ctx context.Context, asked desk.Query) (any, error) {
				v, err := d.ask(ctx, &q, asked)
				return v, answerable(err)
			}
		}
		all = append(all, q.Route)
	}
	return all
}

// ask answers a question. If the reader has to answer it, ask fails with [desk.ErrApart].
func (d *deskSide) ask(ctx context.Context, q *question, query desk.Query) (any, error) {
	if q.crawl != nil {
		v := reflect.New(reflect.TypeOf(q.Returns)).Interface()
		if err := d.Client.Ask(ctx, q.Method, query.RequestURI(), v); !errors.Is(err, control.ErrNobody) {
			return v, err
		}
	}
	if q.desk == nil {
		return nil, desk.ErrApart
	}
	return q.desk(d, ctx, query)
}
