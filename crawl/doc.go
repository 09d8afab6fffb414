// Package crawl walks the terrain: it is the ring of scheduler, visitors and
// recorder.
//
// The scheduler knows when a host may be asked and who is next. A visitor makes
// one request, reads the answer and owns nothing. The recorder decides what an
// answer means; it owns the durable hosts and the write transaction of the
// store. One trip round the ring is one request: a [Step] goes from scheduler to
// visitor, an [Outcome] from visitor to recorder, and after the commit [Effects]
// go from recorder to scheduler. Nothing else is shared.
//
// # A visit
//
// The recorder plans a host whenever something about it has changed: robots.txt
// first, then tries that are due, then the URLs in its line. What needs no
// request (a page that is settled, refused by a rule, or denied by robots.txt) is
// settled on the way. HEAD, GET, another form of the URL and alias hops are steps
// of one visit; between them the visit waits in the scheduler, never in a
// visitor, ahead of the host's other pages. A URL leaves its line on disk in the
// transaction that records its visit, so a kill repeats a visit and loses none.
//
// # Depth
//
// Live, a page has its smallest depth over all origins and its distance by
// redirects alone. Both are minima that only sink; whoever lowers one passes it
// on over the links already recorded, so the order of visits does not matter. At
// most 10,000 pages pass on in one commit; what is left over is part of the
// state.
//
// # A run over an old terrain
//
// The next run walks again from the seeds. A page that an earlier run has visited
// is asked for what has changed since; one that is younger than min-age, or that
// its sitemap says to be as it was, is recorded as kept without a request. So is
// one for which the budget leaves no request.
//
// What earlier runs left waiting is in line when the run begins, and what was never
// visited comes first, so a host larger than its budget is completed over several
// runs. What was left is found along the links that stand. It waits without a depth,
// for a link may have gone, and gets one when the run reaches it; a page of an origin,
// which is at depth 0 however it was found, when it is visited. Not before that do its
// links count.
//
// # The terrain derived anew
//
// [Reclassify] derives classes, depths and what waits from the recorded links
// alone, and [Replay] the links from the page store.
//
// # The page store
//
// A visitor compresses what is to be kept, and waits while too much of that is
// not yet written; the recorder appends it before the commit that refers to it,
// which also says up to where the store counts.
//
// # The end
//
// A run ends when no host has anything to do, nothing is open and everything is
// committed. The scheduler knows that exactly, because the recorder names every
// host that still has work, with the time at which it can be done.
package crawl
