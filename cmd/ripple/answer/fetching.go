package answer

import (
	"errors"
	"time"

	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/census"
	"github.com/sumi-ripple/ripple/crawl/control"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// maxFetchingBytes bounds the total size of the URLs of a [Fetching].
const maxFetchingBytes = 4 << 20

// A Fetching lists the requests of a crawl that are open at one moment.
type Fetching struct {
	Fetching int           `json:"fetching"` // open requests
	Requests []openRequest `json:"requests"` // oldest first; the newest are omitted if their URLs exceed 4 MB in total
	Held     []HeldFailure `json:"held"`     // failed requests for which the network of this machine may be at fault
}

// NoFetching returns the Fetching of no crawl.
func NoFetching() Fetching { return Fetching{Requests: []openRequest{}, Held: []HeldFailure{}} }

// A HeldFailure is a failed request that is not recorded until it is known whether the server or
// the local network is at fault.
type HeldFailure struct {
	Domain string    `json:"domain"`
	Why    string    `json:"error_message"`
	Since  time.Time `json:"since"`
}

// An openRequest is a request whose answer is not complete.
type openRequest struct {
	Domain string    `json:"domain"`
	Page   string    `json:"page_url"` // the page or sitemap that it is made for; empty: none
	URL    string    `json:"fetch_url"`
	Kind   string    `json:"kind"` // robots, sitemap, script, head or get
	Since  time.Time `json:"since"`
}

// forPage reports whether a request is for a page itself.
func (r *openRequest) forPage() bool { return r.Kind == "get" || r.Kind == "head" }

// NewFetching returns the open requests of a crawl.
func NewFetching(open []crawl.Flight, rules *weburl.Rules) Fetching {
	f := NoFetching()
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

// Fetching returns the open requests of the running crawl. It is empty if no crawl runs.
func (r Inspector) Fetching() (Fetching, error) {
	f := NoFetching()
	if r.Live == nil {
		return f, nil
	}
	err := r.Crawl.Get(r.Context(), "fetching", &f)
	if errors.Is(err, control.ErrNobody) { // the crawl has ended in the meantime
		err = nil
	}
	return f, err
}

// addFetching counts the open requests of the running crawl, and the known pages that they are for.
func (s *Stats) addFetching(r *statefile.State) error {
	f, err := Inspector{r}.Fetching()
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

// of returns when the oldest open request for a page was made. It is nil if none is open.
func (f *Fetching) of(norm string) *time.Time {
	for i := range f.Requests {
		if one := &f.Requests[i]; one.forPage() && one.Page == norm {
			return &f.Requests[i].Since
		}
	}
	return nil
}

// RobotsAwaited says that a host waits for its robots.txt, which is being requested.
const RobotsAwaited = "its robots.txt"

// at returns the number of open requests to a host, what they are for, and when the oldest was
// made.
func (f *Fetching) at(domain string) (n int, what string, since *time.Time) {
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
		return n, RobotsAwaited, since
	}
	return n, "the answer to " + term.Count(n, "request", "requests"), since
}

// An Obstacle is why a page or a host is not requested now.
type Obstacle struct {
	Why   string     `json:"waits_for"`   // empty: nothing prevents a request, or no crawl is running
	Since *time.Time `json:"waits_since"` // null: unknown
	Until *time.Time `json:"waits_until"` // null: unknown, or not in this run
}

// waiting returns why the running crawl makes no request to a host now.
func (r Inspector) waiting(h *schema.Host, f *Fetching) Obstacle {
	if r.Live == nil {
		return Obstacle{}
	}
	if c := &r.Live.Condition; c.Cause != census.NoCause && !c.Fetches { // whatever else the host waits for
		return Obstacle{Why: r.Live.Waits, Since: r.Live.WaitsSince}
	}
	if n, what, since := f.at(h.Name); n > 0 {
		return Obstacle{Why: what, Since: since}
	}
	for i := range f.Held {
		if held := &f.Held[i]; held.Domain == h.Name {
			return Obstacle{Why: HeldText(held.Why), Since: &held.Since}
		}
	}
	if r.Live.Status != "running" || r.Live.WaitsSince != nil {
		return Obstacle{Why: r.Live.Waits, Since: r.Live.WaitsSince}
	}
	run := r.Run()
	d := census.NewPace(r.Config(), &run, r.Hosts.Record).Delay(h)
	return Obstacle{d.Why, timeOrNull(d.Since), timeOrNull(d.Until)}
}

// HeldText says that a failure is not recorded yet.
func HeldText(why string) string {
	return term.Clean(why, 200) + "; it is not known yet whether the network of this machine is at fault"
}
