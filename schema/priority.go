package schema

// The priority of a waiting URL says which of its host's is asked first; lower is
// earlier. Sitemaps come before pages, pages that no run has visited before those that
// are visited again, then those that are nearer; at one depth, pages that links lead to
// before those that only a sitemap names.
const (
	PrioritySitemap = 0
	PriorityRevisit = 64 // the first of pages that an earlier run has visited

	priorityPage     = 2
	priorityDeepest  = 30 // pages beyond this depth wait together
	prioritiesAtOnce = 2  // at one depth
)

// PagePriority returns the priority of a page at a depth.
func PagePriority(depth uint8, bySitemap, revisit bool) uint8 {
	p := priorityPage + prioritiesAtOnce*min(depth, priorityDeepest)
	if bySitemap {
		p++
	}
	if revisit {
		p += PriorityRevisit
	}
	return p
}

// PriorityDepth returns the depth of the pages that wait with a priority; page is false
// if those are sitemaps. Of the deepest it is the smallest that they may have.
func PriorityDepth(priority uint8) (depth uint8, page bool) {
	priority %= PriorityRevisit
	if priority < priorityPage {
		return 0, false
	}
	return (priority - priorityPage) / prioritiesAtOnce, true
}
