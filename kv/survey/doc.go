// Package survey says what each page of a state file is: its state, its depth from every origin,
// the path that leads there, and how well its host is covered.
//
// A store holds what happened. What follows from that is derived here, once, from the records and
// the effective configuration of one run: the newest, unless [Survey.At] says otherwise. Commands,
// exports, the digest and the check of the store all read a [Survey], so they never disagree.
//
// # States
//
// A page is gone if neither the last completed run nor a later one has met it: it is discovered,
// its links do not count, and it has no depth. For all other pages, the first of these that applies
// gives the state: the page's class; its visit in the run; its depth; a rule that refuses it; the
// budget of its host; a host that was given up or asked to be left alone. Otherwise the page is
// queued. A page that an unfinished run has not met yet, or for which a run has no visit left,
// keeps the state of its last visit. A page that no run has visited and an earlier run left waiting
// is judged like one that the run has met, while it is in a line.
//
// A visit is not final in two cases. Redirects that run in a circle, or through more than ten
// pages, make a page failed, so that the order of visits does not matter. And a page without a good
// answer is queued once more when a form of it was seen that was not requested.
//
// The links and facts of a page that count are called current. They are those of its last visit, or
// of an earlier visit if the last one brought no new body.
//
// # Rooms
//
// Each room owns what it derives, is handed the rooms that it reads, and calls none above it. A
// [Survey] is their door.
//
//	core       the run: its records, configuration and seeds (core.go, sitemap.go, past.go)
//	stands     which visits hold the current links and facts (stands.go)
//	sights     which was the last run that saw a page, and so which pages are gone (sights.go)
//	hosts      what a host means for its pages: class, budget, why it is not requested (host.go)
//	redirects  where recorded redirects lead (redirect.go)
//	Links      the current links, with the runs that saw them (link.go, ever.go) or their anchors (anchored.go), and
//	           which carry depth (carries.go)
//	siteWide   the targets that most pages of a host link to (sitewide.go)
//	walks      depths, distances and paths along links (graph.go, origin_search.go, depth.go, distance.go), and against
//	           them (path.go, back.go, trace.go)
//	pages      the state of a page (page.go, sketch.go, state.go)
//	missing    which pages are what their hosts show for missing pages (missing.go)
//	parked     which hosts are for sale (parked.go)
//	tallies    all pages, counted (tally.go, unasked.go, omitted.go)
//	walls      which hosts are likely behind a wall that no rule knows (walls.go)
//	Hosts      what is known about hosts (hosts.go)
//	coverage   how well a host is covered, and what limited it (coverage.go, lack.go, cover.go, omitted.go)
//
// Above them is what reads a whole survey: the check of a store (check.go), the digest (digest.go),
// what earlier runs left (left.go), what waits (waiting.go), what a person should notice
// (notice.go), near-duplicates (duplicates.go, near.go), hosts that have changed hands (hands.go), and
// the comparison of two runs (diff.go, diff_sum.go).
//
// # Use
//
// A Survey belongs to one goroutine, that of its store, and the store must not change while it is
// used. Derived values are kept, a few bytes for every page, from the first call that needs them.
// Functions that are called for each page may call the survey again.
package survey
