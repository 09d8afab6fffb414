package schema

// The priority of a waiting URL decides when it is requested among the URLs of its host; lower is
// earlier. Sitemaps come before pages, except sitemaps on an origin's host that only other hosts
// name. [Rank.Priority] orders the pages.
const (
	PrioritySitemap       = 0
	PriorityRevisit       = 128 // lowest priority of pages that an earlier run has visited
	PriorityOthersSitemap = 254

	priorityPage     = 2
	priorityDeepest  = 29  // pages beyond this depth share a priority
	prioritiesAtOnce = 4   // priorities per depth
	priorityOthers   = 250 // lowest priority of pages on an origin's host that are not the host's own
)

// A Rank decides where a page waits in the queue of its host.
type Rank struct {
	Depth     uint8
	OfOrigin  bool // its host belongs to an origin
	Own       bool // named by the host itself, see package record
	Revisit   bool // an earlier run has visited it
	BySitemap bool // only a sitemap names it
}

// Priority returns the priority of a page. On an origin's host, the host's own pages come before all
// others, and pages never visited before revisits. On other hosts, pages never visited come first, then
// smaller depths, then the host's own pages. At one depth, linked pages come before those that only a
// sitemap names.
func (r Rank) Priority() uint8 {
	p := uint8(priorityPage) + prioritiesAtOnce*min(r.Depth, priorityDeepest)
	switch {
	case r.OfOrigin && !r.Own:
		if p = priorityOthers; r.Revisit {
			p += 2
		}
	case r.Revisit:
		p += PriorityRevisit
	}
	if !r.OfOrigin && !r.Own {
		p += 2
	}
	if r.BySitemap {
		p++
	}
	return p
}

// PriorityDepth returns the depth of the pages with a priority; page is false for sitemaps. For the
// deepest pages, which share a priority, it is their smallest possible depth.
func PriorityDepth(priority uint8) (depth uint8, page bool) {
	switch {
	case priority >= PriorityOthersSitemap:
		return 0, false
	case priority >= priorityOthers:
		return 0, true
	}
	if priority %= PriorityRevisit; priority < priorityPage {
		return 0, false
	}
	return (priority - priorityPage) / prioritiesAtOnce, true
}

// PriorityOwn reports whether pages with this priority are their host's own.
func PriorityOwn(priority uint8) bool {
	return priority < priorityOthers && (priority%PriorityRevisit-priorityPage)%prioritiesAtOnce < 2
}
