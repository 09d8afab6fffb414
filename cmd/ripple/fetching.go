package main

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/sumi-ripple/ripple/cmd/ripple/desk"
	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/census"
	"github.com/sumi-ripple/ripple/crawl/control"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// maxFetchingBytes bounds the URLs of a [fetching].
const maxFetchingBytes = 4 << 20

// A fetching tells which requests of a crawl are open at a moment.
type fetching struct {
	Fetching int           `json:"fetching"` // requests that are open
	Requests []openRequest `json:"requests"` // the oldest first; the last are left out where their URLs take over 4 MB
	Held     []heldFailure `json:"held"`     // requests that failed, where the network of the machine may be at fault
}

// noFetching is that of no crawl.
func noFetching() fetching { return fetching{Requests: []openRequest{}, Held: []heldFailure{}} }

// A heldFailure is one that is not recorded before it is known whose fault it is.
type heldFailure struct {
	Domain string    `json:"domain"`
	Why    string    `json:"error_message"`
	Since  time.Time `json:"since"`
}

// An openRequest is a request whose answer has not ended.
type openRequest struct {
	Domain string    `json:"domain"`
	Page   string    `json:"page_url"` // the page, or sitemap, that it is made for; empty: it is for none
	URL    string    `json:"fetch_url"`
	Kind   string    `json:"kind"` // robots, sitemap, script, head or get
	Since  time.Time `json:"since"`
}

// forPage reports whether a request is for a page itself.
func (r *openRequest) forPage() bool { return r.Kind == "get" || r.Kind == "head" }

func newFetching(open []crawl.Flight, rules *weburl.Rules) fetching {
	f := noFetching()
	f.Fetching = len(open)
	size := 0
	for _, one := range open {
		if size += len(one.Page) + len(one.URL); size > maxFetchingBytes {
			break
		}
		domain := weburl.Host(one.Page)
		if domain == "" {
			if u, err := rules.Parse(one.URL); err == nil {
				domain = u.Host()
			}
		}
		f.Requests = append(f.Requests, openRequest{
			Domain: domain, Page: one.Page, URL: one.URL, Kind: one.Kind, Since: one.Since.UTC(),
		})
	}
	return f
}

// fetching asks the running crawl which requests are open now; none where nobody crawls.
func (r inspector) fetching() (fetching, error) {
	f := noFetching()
	if r.Live == nil {
		return f, nil
	}
	err := r.Crawl.Get(r.Context(), "fetching", &f)
	if errors.Is(err, control.ErrNobody) { // it has ended since
		err = nil
	}
	return f, err
}

// addFetching counts what the running crawl fetches: requests, and of the pages that are known those that are
// being requested.
func (s *stats) addFetching(r *statefile.State) error {
	f, err := inspector{r}.fetching()
	if err != nil || s.Live == nil {
		return err
	}
	s.Live.Fetching = f.Fetching
	pages := map[string]bool{}
	for _, one := range f.Requests {
		if one.forPage() {
			pages[one.Page] = true
		}
	}
	for norm := range pages {
		id, known, err := r.Lookup(norm)
		if err != nil {
			return err
		}
		if !known {
			continue
		}
		p, err := r.Page(id)
		if err != nil {
			return err
		}
		s.ByState[p.State.String()]--
		s.ByState[schema.Fetching.String()]++
	}
	return nil
}

// of returns when the oldest request for a page was made; nil: none is open.
func (f *fetching) of(norm string) *time.Time {
	for i := range f.Requests {
		if one := &f.Requests[i]; one.forPage() && one.Page == norm {
			return &f.Requests[i].Since
		}
	}
	return nil
}

// robotsAwaited is what a host waits for while its robots.txt is being requested.
const robotsAwaited = "its robots.txt"

// at returns how many requests to a host are open, what they are for, and when the oldest of them was made.
func (f *fetching) at(domain string) (n int, what string, since *time.Time) {
	robots := false
	for i := range f.Requests {
		if f.Requests[i].Domain != domain {
			continue
		}
		if n++; since == nil {
			since = &f.Requests[i].Since
		}
		robots = f.Requests[i].Kind == "robots"
	}
	if n == 1 && robots {
		return n, robotsAwaited, since
	}
	return n, "the answer to " + term.Count(n, "request", "requests"), since
}

// A waiting is why a page or a host is not requested now.
type waiting struct {
	Why   string     `json:"waits_for"`   // empty: nothing keeps the crawl from it, or no crawl is running
	Since *time.Time `json:"waits_since"` // null: not known
	Until *time.Time `json:"waits_until"` // null: not known, or not in this run
}

// waiting says why the running crawl does not request anything of a host now.
func (r inspector) waiting(h *schema.Host, f *fetching) waiting {
	if r.Live == nil {
		return waiting{}
	}
	if n, what, since := f.at(h.Name); n > 0 {
		return waiting{Why: what, Since: since}
	}
	for i := range f.Held {
		if held := &f.Held[i]; held.Domain == h.Name {
			return waiting{Why: heldText(held.Why), Since: &held.Since}
		}
	}
	if r.Live.Status != "running" || r.Live.WaitsSince != nil {
		return waiting{Why: r.Live.Waits, Since: r.Live.WaitsSince}
	}
	run := r.Run()
	d := census.NewPace(r.Config(), &run, r.Hosts.Record).Delay(h)
	return waiting{d.Why, timeOrNull(d.Since), timeOrNull(d.Until)}
}

// heldText says that a failure is not recorded yet.
func heldText(why string) string {
	return term.Clean(why, 200) + "; it is not known yet whether the network of this machine is at fault"
}

// text is what a person reads; empty: nothing is waited for.
func (w *waiting) text() string {
	if w.Why == "" {
		return ""
	}
	text := term.Clean(w.Why, 300)
	if w.Since != nil {
		text += ", since " + w.Since.Format(time.RFC3339)
	}
	return text + againText(w.Until)
}

// fetchingRoute tells a desk what the running crawl fetches.
func (l *liveCrawl) fetchingRoute() desk.Route {
	return desk.Route{Name: "fetching", Method: http.MethodGet, Path: "fetching", Returns: fetching{},
		Doc: "The requests of the running crawl that are open now, the oldest first; none where no crawl is running.",
		Answer: func(ctx context.Context, _ desk.Query) (any, error) {
			f := noFetching()
			err := l.client.Get(ctx, "fetching", &f)
			if errors.Is(err, control.ErrNobody) {
				err = nil
			}
			return &f, answerable(err)
		}}
}
