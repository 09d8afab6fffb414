package record

import (
	"math"
	"slices"
	"time"

	"github.com/sumi-ripple/ripple/crawl/render"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/schema"
)

// MaxRounds is how often a page is looked at: in the last round, what is still missing is
// refused.
const MaxRounds = 8

// maxRendering is how many pages may be fetched and not yet visited: a kill has them fetched
// again.
const maxRendering = 256

// renders know the pages that are being rendered: those whose visit has its answer and does
// not end with it. All of it is in memory. A page waits for a browser in the line of
// [ring.Browser]; where its scripts ask for what nobody has asked for yet, the page waits
// for that, in the lines of the hosts that are asked, and holds no browser.
type renders struct {
	in     *runState
	hosts  *hosts
	pages  int
	wanted map[string][]*round // by URL: who waits for the answer
	lent   map[string]bool     // of those, what other shards want, too, or alone
	queue  []ring.Step         // for the browsers, not yet published
	closed int                 // steps that browsers are done with, not yet published
	held   map[schema.HostID]bool
}

// A round is a page that waits for answers.
type round struct {
	step    ring.Step
	missing int
}

// An asset is what the scripts of a page ask a host for.
type asset struct {
	url   string
	tries int       // that failed
	due   time.Time // zero: at once
}

func newRenders(in *runState, hosts *hosts) renders {
	return renders{in: in, hosts: hosts, wanted: map[string][]*round{}, lent: map[string]bool{},
		held: map[schema.HostID]bool{}}
}

// begin has a page rendered whose visit would end.
func (r *renders) begin(live *liveHost, o *ring.Outcome) {
	r.pages++
	live.rendering = append(live.rendering, o.Step.ID)
	r.queue = append(r.queue, ring.Step{
		Kind: ring.Render, For: o.Step.Host, ID: o.Step.ID, URLKind: o.Step.URLKind, URL: o.Step.URL, Norm: o.Step.Norm,
		Visit: o.Step.Visit, Settings: r.in.set, Fetched: o.Fetched,
	})
}

// end lets go of a page. Hosts that were held go on.
func (r *renders) end(live *liveHost, o *ring.Outcome) {
	r.pages--
	if i := slices.Index(live.rendering, o.Step.ID); i >= 0 {
		live.rendering = slices.Delete(live.rendering, i, i+1)
	}
	o.Step.Fetched.Page.Free()
	for id := range r.held {
		delete(r.held, id)
		r.hosts.touch(id)
	}
}

// again has a page rendered once more whose browser failed.
func (r *renders) again(step ring.Step) {
	fetched := *step.Fetched
	fetched.Tries++
	step.Fetched = &fetched
	r.queue = append(r.queue, step)
}

// fetch has what a page misses asked for; the next round begins when all of it has an
// answer.
func (r *renders) fetch(o *ring.Outcome) error {
	fetched := *o.Step.Fetched
	fetched.Rounds++
	page := &round{step: o.Step}
	page.step.Fetched = &fetched
	for _, url := range o.Missing {
		waiting, asked := r.wanted[url]
		if !asked {
			var err error
			if asked, err = r.ask(url, math.MaxInt); err != nil {
				return err
			}
		}
		if asked {
			page.missing++
			r.wanted[url] = append(waiting, page)
		}
	}
	if page.missing == 0 {
		r.queue = append(r.queue, page.step)
	}
	return nil
}

// lend has asked for what scripts of pages of another shard want, unless that is done, or so
// much is that the shard has to ask again.
func (r *renders) lend(url string) error {
	if r.lent[url] || len(r.lent) >= maxErrands || r.in.set.Answers == nil {
		return nil
	}
	waiting, asked := r.wanted[url]
	if !asked {
		var err error
		if asked, err = r.ask(url, maxLent); err != nil || !asked {
			return err
		}
	}
	r.wanted[url], r.lent[url] = waiting, true
	return nil
}

// ask puts a URL into the line of its host, if there are fewer than so many things there that
// scripts want. It returns false if there are not, or there is an answer now.
func (r *renders) ask(url string, most int) (bool, error) {
	if r.in.set.Answers.Has(url) {
		return false, nil
	}
	u, err := r.in.set.Rules.Parse(url)
	if err != nil || u.HTTP {
		r.answer(url, &render.Answer{Refused: "not an https URL"})
		return false, nil
	}
	if c := r.in.set.Scope.Classify(u.Norm); !c.Class.Visitable() {
		r.answer(url, &render.Answer{Refused: c.Class.String()})
		return false, nil
	}
	id, err := r.hosts.identify(u.Host())
	if err != nil {
		return false, err
	}
	live := r.hosts.live.of(id)
	if len(live.assets) >= most {
		return false, nil
	}
	live.assets = append(live.assets, asset{url: url})
	r.hosts.touch(id)
	return true, nil
}

// answer keeps the answer to what pages ask for, and lets go on who waits for nothing else.
func (r *renders) answer(url string, a *render.Answer) {
	r.in.set.Answers.Put(url, a)
	for _, page := range r.wanted[url] {
		if page.missing--; page.missing == 0 {
			r.queue = append(r.queue, page.step)
		}
	}
	delete(r.wanted, url)
	delete(r.lent, url)
}

// crowded reports whether so many pages are being rendered that a host is not asked for
// another one that might have to be. It is planned again when there is room.
func (r *renders) crowded(h *schema.Host) bool {
	if r.pages < maxRendering || !r.in.set.Config.Render.Renders(h.Name, r.hosts.facts(h.ID).own) {
		return false
	}
	r.held[h.ID] = true
	return true
}

// effect is what is new for the browsers, if anything is.
func (r *renders) effect() (ring.Effect, bool) {
	if len(r.queue) == 0 && r.closed == 0 {
		return ring.Effect{}, false
	}
	e := ring.Effect{
		Host: ring.Browser, Ready: r.in.now, Limit: r.in.set.Config.Render.Browsers(), Steps: r.queue, Closed: r.closed,
		Proved: true,
	}
	r.queue, r.closed = nil, 0
	return e, true
}
