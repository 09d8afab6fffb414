package main

import (
	"context"
	"errors"
	"net/http"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/cmd/ripple/desk"
	"github.com/sumi-ripple/ripple/crawl/control"
)

// fetchingRoute tells a desk what the running crawl fetches.
func (l *liveCrawl) fetchingRoute() desk.Route {
	return desk.Route{Name: "fetching", Method: http.MethodGet, Path: "fetching", Returns: answer.Fetching{},
		Doc: "The requests of the running crawl that are open now, the oldest first; none where no crawl is running.",
		Answer: func(ctx context.Context, _ desk.Query) (any, error) {
			f := answer.NoFetching()
			err := l.client.Get(ctx, "fetching", &f)
			if errors.Is(err, control.ErrNobody) {
				err = nil
			}
			return &f, answerable(err)
		}}
}
