package record

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/sumi-ripple/ripple/crawl/render"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/schema"
)

// maxRendering limits the pages that are fetched but not yet visited, because after a kill they are fetched again.
const maxRendering = 256

// A renderQueue holds the pages that are being rendered: those whose visit has its answer but does not end with
// it. All of it is in memory. A page waits for a browser in line, and the first of the line in that of [ring.Browser].
// If its scripts need a resource that has not been requested yet, the page waits for that in the line of the
// resource's host, and occupies no browser meanwhile.
type renderQueue struct {
	in     *runState
	hosts  *hosts
	pages  int
	wanted map[render.Resource][]*round // the rounds that wait for the answer
	lent   map[render.Resource]bool     // those of wanted that other shards need, too or only
	line   browserLine
	open   int // steps published and not finished
	closed int // steps that browsers have finished, not yet published
	held   map[schema.HostID]bool
}

// A round is a page that waits for answers.
type round struct {
	step    ring.Step
	missing int
}

// An asset is a resource that scripts need from a host.
type asset struct {
	render.Resource
	tries int       // failed tries
	due   time.Time // zero: at once
}

func newRenderQueue(in *runState, hosts *hosts) renderQueue {
	return renderQueue{in: in, hosts: hosts, wanted: map[render.Resource][]*round{}, lent: map[render.Resource]bool{},
		line: newBrowserLine(), held: map[schema.HostID]bool{}}
}

// begin queues a page for rendering whose visit would otherwise end. The scripts that it names come first.
func (q *renderQueue) begin(live *liveHost, o *ring.Outcome) error {
	q.pages++
	live.rendering = append(live.rendering, o.Step.ID)
	return q.fetch(&ring.Outcome{Missing: o.Missing, Step: ring.Step{
		Kind: ring.Render, For: o.Step.Host, ID: o.Step.ID, URLKind: o.Step.URLKind, URL: o.Step.URL, Norm: o.Step.Norm,
		Visit: o.Step.Visit, Settings: q.in.set, Fetched: o.Fetched,
	}})
}

// end removes a page. Hosts that were held may continue.
func (q *renderQueue) end(live *liveHost, o *ring.Outcome) {
	q.pages--
	if i := slices.Index(live.rendering, o.Step.ID); i >= 0 {
		live.rendering = slices.Delete(live.rendering, i, i+1)
	}
	o.Step.Fetched.Page.Free()
	for id := range q.held {
		delete(q.held, id)
		q.hosts.touch(id)
	}
}

// again queues a page once more whose browser failed.
func (q *renderQueue) again(o *ring.Outcome) {
	fetched := *o.Step.Fetched
	fetched.Tries++
	fetched.Processor += o.Processor
	o.Step.Fetched = &fetched
	q.line.add(o.Step)
}

// fetch queues the requests for the resources that a page lacks. The next round begins when all
// have an answer.
func (q *renderQueue) fetch(o *ring.Outcome) error {
	fetched := *o.Step.Fetched
	fetched.Processor += o.Processor
	page := &round{step: o.Step}
	page.step.Fetched = &fetched
	for _, r := range o.Missing {
		waiting, asked := q.wanted[r]
		if !asked {
			var err error
			if asked, err = q.ask(r, math.MaxInt); err != nil {
				return err
			}
		}
		if asked {
			page.missing++
			q.wanted[r] = append(waiting, page)
		}
	}
	if page.missing == 0 {
		q.line.add(page.step)
	}
	return nil
}

// lend queues the request for a resource that scripts of another shard's pages need, unless it is
// already queued. If too many are queued, the other shard must ask again.
func (q *renderQueue) lend(r render.Resource) error {
	if q.lent[r] || len(q.lent) >= maxErrands || q.in.set.Answers == nil {
		return nil
	}
	waiting, asked := q.wanted[r]
	if !asked {
		var err error
		if asked, err = q.ask(r, maxLent); err != nil || !asked {
			return err
		}
	}
	q.wanted[r], q.lent[r] = waiting, true
	return nil
}

// ask queues a resource at its host, if fewer than most resources that scripts want are queued there. It returns
// false if not, or if the answer is known already.
func (q *renderQueue) ask(r render.Resource, most int) (bool, error) {
	if q.in.set.Answers.Has(r) {
		return false, nil
	}
	u, err := q.in.set.Rules.Parse(r.URL)
	if err != nil || u.HTTP {
		q.refuse(r, "not an https URL")
		return false, nil
	}
	if c := q.in.set.Scope.Classify(u.Norm); !c.Class.Visitable() {
		q.refuse(r, c.Class.String())
		return false, nil
	}
	id, err := q.hosts.identify(u.Host())
	if err != nil {
		return false, err
	}
	live := q.hosts.live.of(id)
	if len(live.assets) >= most {
		return false, nil
	}
	live.assets = append(live.assets, asset{Resource: r})
	q.hosts.touch(id)
	return true, nil
}

// answer stores the answer to a request, and continues the rounds that wait for nothing else.
func (q *renderQueue) answer(r render.Resource, a *render.Answer) {
	q.in.set.Answers.Put(r, a)
	q.proceed(r)
}

// refuse is answer for a resource that is not requested.
func (q *renderQueue) refuse(r render.Resource, why string) {
	q.in.set.Answers.Refuse(r, why)
	q.proceed(r)
}

func (q *renderQueue) proceed(r render.Resource) {
	for _, page := range q.wanted[r] {
		if page.missing--; page.missing == 0 {
			q.line.add(page.step)
		}
	}
	delete(q.wanted, r)
	delete(q.lent, r)
}

// metaTimeouts is the name of the value that keeps, for the processes after this one, how many pages of hosts have run
// out of time.
const metaTimeouts = "render timeouts"

// runTimeouts is that value, as JSON.
type runTimeouts struct {
	Run   schema.RunID   `json:"run"`
	Hosts map[string]int `json:"hosts"` // up to [mostTimeouts] of each
}

// timedOut counts a page that ran out of time.
func (q *renderQueue) timedOut(h *schema.Host) error {
	if q.line.timedOut(h.ID); q.line.timeouts[h.ID] > mostTimeouts {
		return nil
	}
	kept, err := q.timeouts()
	if err != nil {
		return err
	}
	kept.Hosts[h.Name] = q.line.timeouts[h.ID]
	text, err := json.Marshal(kept)
	if err != nil {
		return err
	}
	return q.in.tx.Meta.Put(metaTimeouts, text)
}

// timeouts returns what the run has counted, in this process or earlier.
func (q *renderQueue) timeouts() (runTimeouts, error) {
	var kept runTimeouts
	text, err := q.in.tx.Meta.Value(metaTimeouts)
	if err == nil && text != nil {
		err = json.Unmarshal(text, &kept)
	}
	if kept.Run != q.in.run.ID || kept.Hosts == nil {
		kept = runTimeouts{q.in.run.ID, map[string]int{}}
	}
	return kept, err
}

// recall reads what the run has counted before this process began.
func (q *renderQueue) recall() error {
	kept, err := q.timeouts()
	for name, n := range kept.Hosts {
		id, known, wrong := q.in.tx.Hosts.Lookup(name)
		if err = errors.Join(err, wrong); known {
			q.line.timeouts[id] = n
		}
	}
	return err
}

// crowded reports whether too many pages are being rendered to request another page of the host that might need
// rendering. The host is planned again when there is room.
func (q *renderQueue) crowded(h *schema.Host) bool {
	if q.pages < maxRendering || !q.in.set.Config.Render.Renders(h.Name, q.hosts.facts(h.ID).own) {
		return false
	}
	q.held[h.ID] = true
	return true
}

// finished counts a step that a browser has finished.
func (q *renderQueue) finished() {
	q.open--
	q.closed++
}

// effect returns what is new for the browsers; false: nothing is. It publishes two pages for each browser, so that
// none waits for a commit. The others stay in line.
func (q *renderQueue) effect() (ring.Effect, bool) {
	browsers := q.in.set.Config.Render.Browsers()
	var steps []ring.Step
	for q.open < 2*browsers {
		step, ok := q.line.next()
		if !ok {
			break
		}
		fetched := *step.Fetched
		fetched.Once = q.line.costly(step.For)
		step.Fetched = &fetched
		steps = append(steps, step)
		q.open++
	}
	if len(steps) == 0 && q.closed == 0 {
		return ring.Effect{}, false
	}
	e := ring.Effect{
		Host: ring.Browser, Ready: q.in.now, Limit: browsers, Steps: steps, Closed: q.closed, Proved: true,
	}
	q.closed = 0
	return e, true
}
