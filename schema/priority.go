package schema

// The priority of a waiting URL says which of its host's is asked first; lower is
// earlier. Sitemaps come before pages; [Rank.Priority] says in which order those come.
const (
	PrioritySitemap = 0
	PriorityRevisit = 128 // the first of pages that an earlier run has visited

	priorityPage     = 2
	priorityDeepest  = 29  // pages beyond this depth wait together
	prioritiesAtOnce = 4   // at one depth
	priorityOthers   = 250 // the first of the pages of an origin's host that are not its own
)

// A Rank says where a page waits in the line of its host.
type Rank struct {
	Depth     uint8
	OfOrigin  bool // its host belongs to an origin
	Own       bool // the host itself names it, see package record
	Revisit   bool // an earlier run has visited it
	BySitemap bool // no link leads to it
}

// Priority puts the pages of an origin's host that are its own before all others, and pages that
// were never visited before revisits; elsewhere pages that were never visited, then those that are
// nearer, then the host's own. At one depth, pages that links lead to come before those that only
// a sitemap names.
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

// PriorityDepth returns the depth of the pages that wait with a priority; page is false
// if those are sitemaps. Of the deepest it is the smallest that they may have.
func PriorityDepth(priority uint8) (depth uint8, page bool) {
	if priority >= priorityOthers {
		return 0, true
	}
	if priority %= PriorityRevisit; priority < priorityPage {
		return 0, false
	}
	return (priority - priorityPage) / prioritiesAtOnce, true
}

// PriorityOwn reports whether the pages that wait with a priority are their host's own.
func PriorityOwn(priority uint8) bool {
	return priority < priorityOthers && (priority%PriorityRevisit-priorityPage)%prioritiesAtOnce < 2
}
