package main

import (
	"context"
	"errors"
	"net/http"

	"github.com/sumi-ripple/ripple/cmd/ripple/desk"
	"github.com/sumi-ripple/ripple/crawl/census"
	"github.com/sumi-ripple/ripple/crawl/control"
)

// A liveCrawl is the crawl that may be running on a state file, as the desk asks it.
type liveCrawl struct{ client *control.Client }

// A deskStatus is what goes on now.
type deskStatus struct {
	Mode string `json:"mode"` // crawl: one is running; file: none is
	crawlStatus
}

type crawlStatus = census.Status // by whose name its field of that name is not hidden

// liveRoutes are what is asked of the running crawl.
func liveRoutes(l *liveCrawl) []desk.Route {
	return []desk.Route{
		{Name: "status", Method: http.MethodGet, Path: "status", Returns: deskStatus{}, Answer: l.status,
			Doc: "What the crawl does now, and why nothing is being fetched; status is \"finished\" where none is running."},
	}
}

func (l *liveCrawl) status(ctx context.Context, _ desk.Query) (any, error) {
	s := deskStatus{Mode: "crawl"}
	err := l.client.Get(ctx, "status", &s.crawlStatus)
	if errors.Is(err, control.ErrNobody) {
		return deskStatus{"file", census.Status{
			Status: "finished", Errors: map[string]int{}, Troubles: []census.Trouble{},
			Left: census.Left{Depth: -1, ETAHosts: []census.HostETA{}},
		}}, nil
	}
	return s, err
}

// metrics are those of the running crawl; a file has none.
func (l *liveCrawl) metrics(ctx context.Context) ([]byte, error) {
	text, err := l.client.Metrics(ctx)
	if errors.Is(err, control.ErrNobody) {
		err = &control.Error{Code: http.StatusServiceUnavailable, Text: "no crawl is running"}
	}
	return text, err
}
