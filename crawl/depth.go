package crawl

import (
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/terrain"
)

// maxRelaxed is the number of pages whose depth travels on in one commit.
const maxRelaxed = 10_000

// A source is what a page gives to the pages it leads to.
type source struct {
	depth, hops uint8
	nofollow    bool // the page asks for its links not to be followed
}

// spread carries the depth of a page over its links.
func (t *turn) spread(from source, links []schema.Link) error {
	for _, link := range links {
		if !survey.Carries(t.set.cfg.Crawler, link, from.nofollow) {
			continue
		}
		depth, hops := from.depth+1, uint8(0)
		if link.Kinds.First() == schema.LinkRedirect {
			depth, hops = max(1, from.depth), from.hops+1
		}
		if err := t.relax(link.To, depth, hops, false); err != nil {
			return err
		}
	}
	return nil
}

// relax lowers a page's distances to those given and queues it where that brings
// it within reach. Distances beyond max-depth + 1 are dropped.
func (t *turn) relax(id schema.ID, depth, hops uint8, bySitemap bool) error {
	if t.facts(id).own {
		depth = 0
	}
	if int(depth) > t.set.cfg.Crawler.MaxDepth+1 {
		return nil
	}
	oldDepth, oldHops := t.store.Depth(id)
	depth, hops = min(depth, oldDepth), min(hops, oldHops)
	if depth == oldDepth && hops == oldHops {
		if bySitemap && t.set.sitemapsOnly() && !t.visited(id) {
			return t.enqueue(id, kv.NoDepth, kv.NoDepth, true)
		}
		return nil
	}
	t.tx.SetDepth(id, depth, hops)
	if t.visited(id) {
		t.work = append(t.work, id)
		if oldDepth == kv.NoDepth && t.store.Kind(id) == schema.KindPage { // visited as one that was left
			return t.reopen(id)
		}
		return nil
	}
	return t.enqueue(id, oldDepth, oldHops, bySitemap)
}

// relaxPending lets depths travel on, as far as one commit should.
func (t *turn) relaxPending() error {
	for n := 0; len(t.work) > 0 && n < t.relaxed; n++ {
		id := t.work[0]
		t.work = t.work[1:]
		if err := t.passOn(id); err != nil {
			return err
		}
	}
	return t.tx.SetPending(t.work)
}

// passOn carries the depth of a visited page over its recorded links, unless a
// list or a max-depth that came later keeps the crawl away from it.
func (t *turn) passOn(id schema.ID) error {
	if ok, err := t.visitable(id); err != nil || !ok {
		return err
	}
	if t.store.Kind(id) == schema.KindSitemap {
		return t.passOnSitemap(id)
	}
	seq := t.store.Latest(id)
	v, err := t.tx.Visit(seq)
	if err != nil {
		return err
	}
	links := v.Links
	if v.Stand != 0 {
		if links, err = t.tx.AppendLinks(nil, v.Stand); err != nil {
			return err
		}
	}
	depth, hops := t.store.Depth(id)
	if !t.within(depth, hops) {
		return nil
	}
	return t.spread(source{depth: depth, hops: hops, nofollow: v.NoFollow}, links)
}

// visitable reports whether the lists let a URL be visited.
func (t *turn) visitable(id schema.ID) (bool, error) {
	if !t.facts(id).class.Visitable() || !t.set.terrain.HasURLRules() {
		return t.facts(id).class.Visitable(), nil
	}
	norm, err := t.tx.Norm(id)
	return err == nil && t.set.terrain.Classify(norm).Class.Visitable(), err
}

// enqueue puts a page into the line of its host if its distances bring it within
// reach, or nearer than the old ones did, and no list or rule refuses it.
func (t *turn) enqueue(id schema.ID, oldDepth, oldHops uint8, bySitemap bool) error {
	depth, hops := t.store.Depth(id)
	if !t.within(depth, hops) {
		return nil
	}
	priority := t.priority(id, depth, bySitemap)
	queued := t.within(oldDepth, oldHops) && t.priority(id, oldDepth, false) <= priority
	if t.set.sitemapsOnly() {
		queued = !bySitemap && !t.seeds[id] // however it was reached before
	}
	if queued {
		return nil
	}
	if ok, err := t.visitable(id); err != nil || !ok {
		return err
	}
	u, err := t.tx.URL(id)
	if err != nil {
		return err
	}
	name, err := t.tx.HostName(u.Host)
	if err != nil {
		return err
	}
	if _, refused := t.set.terrain.Refuse(name, u.PathQuery); refused {
		return nil
	}
	return t.push(id, priority)
}

func (t *turn) push(id schema.ID, priority uint8) error {
	h, err := t.host(t.store.HostOf(id))
	if err != nil {
		return err
	}
	t.touch(h.ID)
	t.tx.PutHost(h)
	return t.tx.Push(h, priority, id)
}

// within reports whether a page with these distances is visited.
func (t *turn) within(depth, hops uint8) bool {
	return depth != kv.NoDepth && int(depth) <= t.set.cfg.Crawler.MaxDepth && hops <= maxHops
}

// The priorities of waiting URLs: sitemaps, then pages by depth, then pages that
// an earlier run has visited.
const (
	prioritySitemap = 0
	priorityPage    = 2
	priorityRevisit = 64
)

func pagePriority(depth uint8) uint8 { return priorityPage + 2*min(depth, 30) }

// priority orders the waiting pages of a host: never visited before known, then
// by depth, pages that only a sitemap names after linked ones.
func (t *turn) priority(id schema.ID, depth uint8, bySitemap bool) uint8 {
	p := pagePriority(depth)
	if bySitemap {
		p++
	}
	if t.store.Latest(id) != 0 {
		p += priorityRevisit
	}
	return p
}

// hostFacts are what the lists say of a host, and that it was named with https;
// derived, and cached by host id.
type hostFacts struct {
	known bool
	class schema.Class
	own   bool // of an origin
	https bool // the durable host has HTTPS set
}

func (t *turn) facts(id schema.ID) hostFacts { return t.hostFacts(t.store.HostOf(id)) }

func (t *turn) hostFacts(id schema.HostID) hostFacts {
	for int(id) >= len(t.classes) {
		t.classes = append(t.classes, hostFacts{})
	}
	if f := t.classes[id]; f.known {
		return f
	}
	name, err := t.tx.HostName(id)
	if err != nil {
		return hostFacts{}
	}
	f := factsOf(t.set.terrain, name)
	t.classes[id] = f
	return f
}

func factsOf(terr *terrain.Terrain, host string) hostFacts {
	return hostFacts{known: true, class: terr.HostClass(host).Class, own: len(terr.OriginsOf(host)) > 0}
}
