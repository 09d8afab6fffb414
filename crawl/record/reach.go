package record

import (
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// maxTravelled is the number of pages whose depth travels on in one transaction.
const maxTravelled = 10_000

// reach knows how far from the origins a page is, and puts what comes within reach
// into the line of its host. A page that was visited passes a depth that sinks on
// over its recorded links; those that have still to do so are its work, which is part
// of the state.
type reach struct {
	in       *scope
	hosts    *hosts
	ledger   *ledger
	listings listings
	work     []schema.ID
}

// A source is what a page gives to the pages it leads to.
type source struct {
	depth, hops uint8
	nofollow    bool // the page asks for its links not to be followed
}

// carry takes the depth of a page that was just visited over its links.
func (r *reach) carry(visit *schema.Visit) error {
	if !r.in.isPage(visit.URL) {
		return r.carrySitemap(visit)
	}
	if depth, hops := r.in.store.Depth(visit.URL); !r.in.within(depth, hops) { // it was left by an earlier run
		return nil
	}
	return r.carryLinks(visit)
}

func (r *reach) carryLinks(visit *schema.Visit) error {
	links := visit.Links
	if visit.Stand != 0 {
		var err error
		if links, err = r.in.tx.Visits.AppendLinks(nil, visit.Stand, visit.URL); err != nil {
			return err
		}
	}
	depth, hops := r.in.store.Depth(visit.URL)
	return r.spread(source{depth: depth, hops: hops, nofollow: visit.NoFollow}, links)
}

func (r *reach) spread(from source, links []schema.Link) error {
	for _, link := range links {
		if !survey.Carries(r.in.set.Config.Crawler, link, from.nofollow) {
			continue
		}
		depth, hops := from.depth+1, uint8(0) // package survey has the rule once more, to check what is stored
		if link.Kinds.First() == schema.LinkRedirect {
			depth, hops = max(1, from.depth), from.hops+1
		}
		if err := r.relax(link.To, depth, hops, false); err != nil {
			return err
		}
	}
	return nil
}

// relax lowers a page's distances to those given and queues it where that brings it
// within reach. Distances beyond max-depth + 1 are dropped.
func (r *reach) relax(id schema.ID, depth, hops uint8, bySitemap bool) error {
	if r.own(id) {
		depth = 0
	}
	if int(depth) > r.in.set.Config.Crawler.MaxDepth+1 {
		return nil
	}
	oldDepth, oldHops := r.in.store.Depth(id)
	depth, hops = min(depth, oldDepth), min(hops, oldHops)
	if depth == oldDepth && hops == oldHops {
		if bySitemap && r.in.set.SitemapsOnly() && !r.in.visited(id) {
			return r.enqueue(id, kv.NoDepth, kv.NoDepth, true)
		}
		return nil
	}
	r.in.tx.Depths.Lower(id, depth, hops)
	if r.in.foreign(id) {
		return r.hosts.mark(id)
	}
	if r.in.visited(id) {
		r.work = append(r.work, id)
		if r.in.isPage(id) && !r.in.within(oldDepth, oldHops) { // visited before, as one that was left
			return r.reopen(id)
		}
		return nil
	}
	return r.enqueue(id, oldDepth, oldHops, bySitemap)
}

// travel lets depths travel on, of so many pages at most, and keeps the rest for the
// next transaction.
func (r *reach) travel(most int) error {
	for n := 0; len(r.work) > 0 && n < most; n++ {
		id := r.work[0]
		r.work = r.work[1:]
		if err := r.passOn(id); err != nil {
			return err
		}
	}
	return nil
}

// passOn carries the depth of a visited page over its recorded links, unless a list or
// a max-depth that came later keeps the crawl away from it.
func (r *reach) passOn(id schema.ID) error {
	if ok, err := r.hosts.visitable(id); err != nil || !ok {
		return err
	}
	visit, err := r.in.tx.Visits.At(r.in.store.Latest(id))
	if err != nil {
		return err
	}
	if !r.in.isPage(id) {
		return r.carrySitemap(visit)
	}
	if depth, hops := r.in.store.Depth(id); !r.in.within(depth, hops) {
		return nil
	}
	return r.carryLinks(visit)
}

// own reports whether a URL is of an origin.
func (r *reach) own(id schema.ID) bool { return r.hosts.facts(r.in.store.HostOf(id)).own }

// enqueue puts a page into the line of its host if its distances bring it within
// reach, or nearer than the old ones did, and no list or rule refuses it.
func (r *reach) enqueue(id schema.ID, oldDepth, oldHops uint8, bySitemap bool) error {
	depth, hops := r.in.store.Depth(id)
	if !r.in.within(depth, hops) {
		return nil
	}
	priority := r.priority(id, depth, bySitemap)
	queued := r.in.within(oldDepth, oldHops) && r.priority(id, oldDepth, false) <= priority
	if r.in.set.SitemapsOnly() {
		queued = !bySitemap && !r.in.seeds.pages[id] // however it was reached before
	}
	if queued {
		return nil
	}
	if ok, err := r.allowed(id); err != nil || !ok {
		return err
	}
	return r.push(id, priority)
}

// allowed reports whether neither lists nor rules keep a page from being asked.
func (r *reach) allowed(id schema.ID) (bool, error) {
	if ok, err := r.hosts.visitable(id); err != nil || !ok {
		return false, err
	}
	u, err := r.in.tx.URLs.At(id)
	if err != nil {
		return false, err
	}
	name, err := r.in.tx.Hosts.Name(u.Host)
	if err != nil {
		return false, err
	}
	_, refused := r.in.set.Terrain.Refuse(name, u.PathQuery)
	return !refused, nil
}

// push puts a URL that lists and rules allow into the line of its host. Of a foreign one its shard is told instead.
func (r *reach) push(id schema.ID, priority uint8) error {
	if r.in.foreign(id) {
		return r.hosts.mark(id)
	}
	h, err := r.hosts.change(r.in.store.HostOf(id))
	if err != nil {
		return err
	}
	return r.in.tx.Frontier.Push(h, priority, id)
}

// priority orders the waiting pages of a host.
func (r *reach) priority(id schema.ID, depth uint8, bySitemap bool) uint8 {
	return schema.PagePriority(depth, bySitemap, r.in.store.Latest(id) != 0)
}

// reopen queues a visited page once more, if a form of it was met that was not known
// when it was visited and it needs one.
func (r *reach) reopen(id schema.ID) error {
	open, err := r.ledger.waitsAgain(id)
	if err != nil || !open {
		return err
	}
	if ok, err := r.allowed(id); err != nil || !ok {
		return err
	}
	if depth, hops := r.in.store.Depth(id); r.in.within(depth, hops) {
		return r.push(id, r.priority(id, depth, false))
	}
	return nil
}

// A leftPage is one that earlier runs left waiting, with the depth that the links
// which stand give it.
type leftPage struct {
	id    schema.ID
	depth uint8
}

// takeUp lets a page that was left take its old place, but no depth, which may have
// changed: it has one, and its links count, when the run reaches it. One that was
// visited since belongs to an origin.
func (r *reach) takeUp(p leftPage) error {
	if r.in.visited(p.id) {
		return r.relax(p.id, 0, 0, false)
	}
	return r.push(p.id, schema.PagePriority(p.depth, false, false))
}
