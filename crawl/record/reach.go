package record

import (
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// maxTravelled is the number of pages whose depth is propagated in one transaction.
const maxTravelled = 10_000

// reach knows how far from the origins a page is, and puts what comes within reach into the line of its host. When the
// depth of a visited page decreases, it is propagated along the page's recorded links. Pages that still wait for this
// are listed in work, which is part of the state.
type reach struct {
	in       *runState
	hosts    *hosts
	ledger   *ledger
	listings listings
	work     []schema.ID
}

// A source is what a page passes to the pages it leads to.
type source struct {
	page        schema.ID
	depth, hops uint8
	nofollow    bool // the page asks for its links not to be followed
}

// A way leads to a page.
type way struct {
	depth, hops uint8
	own         bool // it makes the page its host's own
	bySitemap   bool
}

// carry passes the depth of a page that was just visited over its links.
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
	from, links, err := r.sourceOf(visit)
	if err != nil {
		return err
	}
	return r.spread(from, links)
}

// sourceOf returns what a visited page passes on, and the links over which it does.
func (r *reach) sourceOf(visit *schema.Visit) (from source, links []schema.Link, err error) {
	links = visit.Links
	if visit.Stand != 0 {
		links, err = r.in.tx.Visits.AppendLinks(nil, visit.Stand, visit.URL)
	}
	depth, hops := r.in.store.Depth(visit.URL)
	return source{page: visit.URL, depth: depth, hops: hops, nofollow: visit.NoFollow}, links, err
}

func (r *reach) spread(from source, links []schema.Link) error {
	for _, link := range links {
		w, ok := r.over(from, link)
		if !ok {
			continue
		}
		err := r.relax(link.To, w)
		if err == nil {
			err = r.hosts.vouchFrom(from.page, r.in.store.HostOf(link.To))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// over returns the way over a link of a page. ok is false if the link carries no depth.
func (r *reach) over(from source, link schema.Link) (w way, ok bool) {
	if !survey.Carries(r.in.set.Config.Crawler, link, from.nofollow) {
		return w, false
	}
	w = way{depth: from.depth + 1} // package survey repeats the rule, to check what is stored
	if link.Kinds.First() == schema.LinkRedirect {
		w.depth, w.hops = max(1, from.depth), from.hops+1
	}
	w.own = r.hosts.vouches(from.page, r.in.store.HostOf(link.To))
	return w, true
}

// bound applies the bounds of depth to a way. ok is false if the way is too long.
func (r *reach) bound(id schema.ID, w way) (_ way, ok bool) {
	if r.ofOrigin(id) {
		w.depth = 0
	}
	return w, int(w.depth) <= r.in.set.Config.Crawler.MaxDepth+1
}

// relax lowers a page's distances to those of a way, makes it its host's own if the way does, and
// queues it where that brings it within reach or forward in line. Distances beyond max-depth + 1 are dropped.
func (r *reach) relax(id schema.ID, w way) error {
	w, ok := r.bound(id, w)
	if !ok {
		return nil
	}
	oldDepth, oldHops := r.in.store.Depth(id)
	old := way{depth: oldDepth, hops: oldHops, own: r.in.store.Own(id)}
	depth, hops, own := min(w.depth, oldDepth), min(w.hops, oldHops), w.own || old.own
	if depth == oldDepth && hops == oldHops && own == old.own {
		if w.bySitemap && r.in.set.SitemapsOnly() && !r.in.visited(id) {
			return r.enqueue(id, way{depth: kv.NoDepth, hops: kv.NoDepth}, true)
		}
		return nil
	}
	r.in.tx.Depths.Lower(id, depth, hops)
	if own {
		r.in.tx.Depths.SetOwn(id)
	}
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
	return r.enqueue(id, old, w.bySitemap)
}

// travel lets the depths of at most most pages travel on, and keeps the rest for the next transaction.
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

// passOn carries the depth of a visited page over its recorded links, unless a later list or max-depth excludes it.
func (r *reach) passOn(id schema.ID) error {
	if ok, err := r.hosts.visitable(id); err != nil || !ok {
		return err
	}
	visit, err := r.in.tx.Visits.At(r.in.latest(id))
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

// ofOrigin reports whether a URL belongs to an origin.
func (r *reach) ofOrigin(id schema.ID) bool { return r.hosts.facts(r.in.store.HostOf(id)).own }

// enqueue puts a page into the line of its host if its distances bring it within
// reach, or further forward in line than the old ones did, and no list or rule refuses it. In an import nothing waits.
func (r *reach) enqueue(id schema.ID, old way, bySitemap bool) error {
	depth, hops := r.in.store.Depth(id)
	if !r.in.within(depth, hops) || r.in.imports != nil {
		return nil
	}
	priority := r.priority(id, way{depth: depth, own: r.in.store.Own(id), bySitemap: bySitemap})
	queued := r.in.within(old.depth, old.hops) && r.priority(id, old) <= priority
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

// allowed reports whether lists and rules allow a request for a page.
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
	_, refused := r.in.set.Scope.Refuse(name, u.PathQuery)
	return !refused, nil
}

// push puts a URL that lists and rules allow into the line of its host. A foreign URL is reported to its shard instead.
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

// priority orders the waiting pages of a host, by the way that leads to them.
func (r *reach) priority(id schema.ID, w way) uint8 {
	return schema.Rank{
		Depth: w.depth, OfOrigin: r.ofOrigin(id), Own: w.own, Revisit: !r.in.neverAsked(id), BySitemap: w.bySitemap,
	}.Priority()
}

// reopen queues a visited page again if it needs another form and a new one was found since the visit, or if the visit
// relied on an answer that is not believed any more.
func (r *reach) reopen(id schema.ID) error {
	open, err := r.ledger.waitsAgain(id)
	if err != nil || !open {
		return err
	}
	if ok, err := r.allowed(id); err != nil || !ok {
		return err
	}
	if depth, hops := r.in.store.Depth(id); r.in.within(depth, hops) {
		return r.push(id, r.priority(id, way{depth: depth, own: r.in.store.Own(id)}))
	}
	return nil
}

// reopenAll reopens the pages of a host. It scans all URLs, which happens at most once per host.
func (r *reach) reopenAll(host schema.HostID) error {
	for id := schema.ID(1); int(id) <= r.in.store.URLs(); id++ {
		if r.in.store.HostOf(id) != host || !r.in.isPage(id) || !r.in.visited(id) {
			continue
		}
		if err := r.reopen(id); err != nil {
			return err
		}
	}
	return nil
}

// A leftPage is one that earlier runs left waiting, with the depth that the links
// which stand give it.
type leftPage struct {
	id    schema.ID
	depth uint8
	own   bool
}

// takeUp lets a page that was left take its old place, but no depth, which may have
// changed: it has one, and its links count, when the run reaches it. One that was
// visited since belongs to an origin.
func (r *reach) takeUp(p leftPage) error {
	if r.in.visited(p.id) {
		return r.relax(p.id, way{own: p.own})
	}
	return r.push(p.id, r.priority(p.id, way{depth: p.depth, own: p.own}))
}
