package record

import (
	"fmt"
	"math"
	"slices"

	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/scope"
)

// quotas holds everything that limits the number of requests: the caps of groups of pages, the budgets of hosts,
// max-pages and max-subdomains. A request is reserved first, so that concurrent visits do not exceed a limit together.
// A host that waits for what others have reserved is planned again when that is released.
//
// A new limit on the pages of a group goes here. What it takes depends on when the group of a page is known.
//
// If the URL determines the group, as for max-per-prefix, the limit is one more cap of [scope.Scope.Caps]. Nothing
// changes here: it is reserved (reserve), refuses with its rule (room, called by chooser.mayAsk), and is counted
// (countVisit) like the others; fullCap of package survey names what keeps a page from being visited. It needs a field
// of [scope.Traps], and its key and default in package config (tables.go, default.go).
//
// If only the answer determines the group, as for "at most n pages of a host with the same title", a page that was
// never visited has no group yet and cannot be refused. It is requested, and the limit can only refuse what follows
// from the answer: its links. The visit must then record how many were refused, as BeyondHosts of [schema.Visit] does:
// builder fills it in, and keeps it for an unchanged page; the codec of package kv writes and reads it; package survey
// carries it over to later visits (stands.go) and counts it (omitted.go, tally.go, lack.go). A later run must not
// request such a page conditionally (chooser.conditional), or its links would be missing for good. Reading stored
// pages again (builder.links) must refuse the same links. Pages without a title form no group.
type quotas struct {
	in       *runState
	hosts    *hosts
	mazes    *mazes
	reserved map[scope.Cap]int
	pages    int                                  // reserved of max-pages
	held     map[scope.Cap]map[schema.HostID]bool // hosts with pages that wait for a place in a group
	starved  map[schema.HostID]bool               // hosts waiting for a further portion of max-pages
	final    bool                                 // of a shard: nothing of max-pages is left
	ownLeft  map[schema.ID]bool                   // pages left by an earlier run that wait as their host's own
}

func newQuotas(in *runState, hosts *hosts, mazes *mazes) quotas {
	return quotas{
		in: in, hosts: hosts, mazes: mazes, reserved: map[scope.Cap]int{},
		held: map[scope.Cap]map[schema.HostID]bool{}, starved: map[schema.HostID]bool{},
		ownLeft: map[schema.ID]bool{},
	}
}

// room returns what the groups of a page leave for it. If that is held, the host is planned again once a visit that
// holds it is over. A page in a maze has no room.
func (q *quotas) room(id schema.ID, h *schema.Host) (scope.Room, error) {
	if closed, err := q.mazes.closed(id, h); err != nil || closed {
		return scope.Full, err
	}
	caps, err := q.capsOf(id, h)
	if err != nil {
		return scope.Full, err
	}
	room, by, err := scope.RoomIn(caps, q.in.tx.Runs.Count, q.reserved)
	if room == scope.Held {
		if q.held[by] == nil {
			q.held[by] = map[schema.HostID]bool{}
		}
		q.held[by][h.ID] = true
	}
	return room, err
}

// capsOf returns the counters that a visit of the page adds to: none if the run has requested it before.
func (q *quotas) capsOf(id schema.ID, h *schema.Host) ([]scope.Cap, error) {
	if q.in.visited(id) {
		if v, err := q.in.tx.Visits.At(q.in.latest(id)); err != nil || v.Requests > 0 {
			return nil, err
		}
	}
	u, err := q.in.tx.URLs.At(id)
	if err != nil {
		return nil, err
	}
	return q.in.set.Scope.Caps(h.Name, u.PathQuery, q.own(id)), nil
}

// own reports whether a page is its host's own, or was when an earlier run left it waiting.
func (q *quotas) own(id schema.ID) bool { return q.in.store.Own(id) || q.ownLeft[id] }

// reserve counts the first step of a visit before it is sent.
func (q *quotas) reserve(step *ring.Step, h *schema.Host) error {
	if step.URLKind != schema.KindPage {
		return nil
	}
	if err := q.countHost(h); err != nil {
		return err
	}
	caps, err := q.capsOf(step.ID, h)
	if err != nil {
		return err
	}
	q.pages++
	for _, c := range caps {
		q.reserved[c]++
	}
	step.Visit.Reserved = caps
	return nil
}

// release ends the reservation of a visit that is over, or that waits again.
func (q *quotas) release(step *ring.Step) {
	if step.ID == 0 || step.URLKind != schema.KindPage {
		return
	}
	q.pages--
	for _, c := range step.Visit.Reserved {
		if q.reserved[c]--; q.reserved[c] <= 0 {
			delete(q.reserved, c)
		}
		for id := range q.held[c] {
			q.hosts.touch(id)
		}
		delete(q.held, c)
	}
}

// letOn plans hosts that max-pages kept waiting: as many as there is room for now, or all once it is used up.
func (q *quotas) letOn() {
	room, used := q.left(), q.usedUp()
	for id := range q.starved {
		if room--; room < 0 && !used {
			break
		}
		delete(q.starved, id)
		q.hosts.touch(id)
	}
}

// An Allotment says how a shard uses its portion of max-pages.
type Allotment struct {
	Portion int
	Used    int  // pages visited
	Open    int  // pages that are being visited
	Starved bool // pages wait for a larger portion
	Final   bool // nothing of max-pages is left anywhere
}

// Settled reports whether an idle shard needs no larger portion, and holds nothing that others may need.
func (a *Allotment) Settled() bool { return a.Final || !a.Starved && a.Portion == a.Used }

// Allotment returns the allotment of a shard; nil: nothing limits its pages.
func (r *Recorder) Allotment() *Allotment {
	if r.in.set.Config.Crawler.MaxPages <= 0 {
		return nil
	}
	return &Allotment{
		Portion: r.in.run.Portion, Used: r.in.run.Pages, Open: r.quotas.pages, Starved: len(r.quotas.starved) > 0,
		Final: r.quotas.final,
	}
}

// countVisit adds a visit that ends with an answer to the counters of its groups, which were reserved. Groups that
// follow from the answer are counted here, too. Missing pages that only other sites name take no place, up to a number.
func (q *quotas) countVisit(o *ring.Outcome, visit *schema.Visit) error {
	for _, c := range o.Step.Visit.Reserved {
		if c.Others && visit.State == schema.DeadLink {
			n, err := q.in.tx.Runs.Count(c.Missed(), c.Group)
			if err == nil && n < c.MostMissed() {
				if err := q.in.tx.Runs.CountUp(c.Missed(), c.Group, q.in.run.ID); err != nil {
					return err
				}
				continue
			}
			if err != nil {
				return err
			}
		}
		if err := q.in.tx.Runs.CountUp(c.Counted(), c.Group, q.in.run.ID); err != nil {
			return err
		}
	}
	return nil
}

// countHost counts a host against its site before its first request, once a run.
func (q *quotas) countHost(h *schema.Host) error {
	if h.Admitted {
		return nil
	}
	h.Admitted = true
	q.hosts.put(h)
	limit := q.in.set.Config.Crawler.MaxSubdomains
	if limit <= 0 {
		return nil
	}
	c, err := q.in.set.Scope.SubdomainCap(h.Name, limit, h.Vouched, q.in.tx.Runs.Count)
	if err != nil {
		return err
	}
	return q.in.tx.Runs.CountUp(c.Counted(), c.Group, q.in.run.ID)
}

// shutOut reports whether max-subdomains forbids all requests to a host.
func (q *quotas) shutOut(h *schema.Host) (bool, error) {
	limit := q.in.set.Config.Crawler.MaxSubdomains
	if limit <= 0 || h.Admitted {
		return false, nil
	}
	c, err := q.in.set.Scope.SubdomainCap(h.Name, limit, h.Vouched, q.in.tx.Runs.Count)
	if err != nil {
		return false, err
	}
	room, _, err := scope.RoomIn([]scope.Cap{c}, q.in.tx.Runs.Count, nil)
	return room == scope.Full, err
}

// exhausted reports whether the budget of a host is used up, including open requests.
func (q *quotas) exhausted(h *schema.Host, live *liveHost) bool {
	out := 0
	for _, id := range live.open {
		if id == ring.AssetID || id == ring.ProbeID || id != 0 && q.in.isPage(id) {
			out++
		}
	}
	return q.in.set.Config.UsedUp(h, out)
}

// enough reports whether max-pages is used up, including open visits.
func (q *quotas) enough(h *schema.Host) bool {
	if q.left() > 0 {
		return false
	}
	if !q.usedUp() {
		q.starved[h.ID] = true
	}
	return true
}

// left returns how many more pages the run may request.
func (q *quotas) left() int {
	limit := q.in.set.Config.Crawler.MaxPages
	switch {
	case limit <= 0:
		return math.MaxInt
	case q.in.sharded():
		limit = q.in.run.Portion
	}
	return limit - q.in.run.Pages - q.pages
}

// usedUp reports whether max-pages is reached by all shards of a terrain together.
func (q *quotas) usedUp() bool {
	limit := q.in.set.Config.Crawler.MaxPages
	if q.in.sharded() {
		return limit > 0 && q.final
	}
	return limit > 0 && q.in.run.Pages >= limit
}

// allot gives a shard its portion of max-pages, which is at least what it has used and reserved. If that leaves room
// again, all hosts may continue.
func (q *quotas) allot(p ring.Portion) (err error) {
	if q.final && !p.Final {
		err = q.in.tx.Hosts.Each(1, func(h *schema.Host) (bool, error) {
			if hasWork(h) {
				q.starved[h.ID] = true
			}
			return true, nil
		})
	}
	q.in.run.Portion, q.final = max(p.Pages, q.in.run.Pages+q.pages), p.Final
	return err
}

// spent reports whether the run has no visit left for the pages of a host: its budget, or that of the run, is used
// up even without open visits.
func (q *quotas) spent(h *schema.Host) bool {
	return q.in.set.Config.UsedUp(h, 0) || q.usedUp() && h.RunGivenUp == schema.NotGivenUp
}

// cut returns the key, with its value, that keeps a never visited page of a host waiting: the budget of the host or of
// the run is used up. Empty: there is no such page.
func (q *quotas) cut(tx *kv.Tx, h *schema.Host) (key string, err error) {
	asked := h.Run == q.in.run.ID
	switch {
	case h.Generation != q.in.store.Generation() || asked && h.RunGivenUp != schema.NotGivenUp:
		return "", nil
	case asked && q.in.set.Config.UsedUp(h, 0):
		key = q.in.set.Config.BudgetKey(h.Name)
	case q.usedUp():
		key = fmt.Sprintf("max-pages = %d", q.in.set.Config.Crawler.MaxPages)
	default:
		return "", nil
	}
	waits := asked && slices.ContainsFunc(h.Retries, func(r schema.Retry) bool {
		return q.in.isPage(r.URL) && q.in.neverAsked(r.URL)
	})
	if waits {
		return key, nil
	}
	err = tx.Frontier.Walk(h, func(_ uint8, id schema.ID) bool {
		waits = q.in.neverAsked(id)
		return !waits
	})
	if !waits {
		key = ""
	}
	return key, err
}

// seedsOnly reports whether a host asks for such a long delay that only seeds are worth it. Its other pages keep their
// places in case it asks for less later.
func (q *quotas) seedsOnly(h *schema.Host) bool {
	return h.CrawlDelay > q.in.set.Config.Politeness.MaxCrawlDelay
}

// tooSlow reports whether no page of a host is worth its delay. A host that asks for too long a delay is given up
// instead.
func (q *quotas) tooSlow(h *schema.Host) bool {
	return q.seedsOnly(h) && len(q.in.seeds.hosts[h.ID]) == 0 && !q.in.set.Config.AsksTooMuch(h)
}
