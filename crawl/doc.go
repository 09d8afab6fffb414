// Package crawl walks the terrain: it is the ring of scheduler, visitors and
// recorder.
//
// The scheduler knows when a host may be asked and who is next. A visitor makes
// one request, reads the answer and owns nothing. The recorder is two: a committer gathers
// what comes back into batches and commits each in one transaction; what that means, and
// what is asked next, is decided by a [record.Recorder], which owns the durable hosts.
// One trip round the ring is one request: a [ring.Step] goes from scheduler to visitor, a
// [ring.Outcome] from visitor to recorder, and after the commit [ring.Effects] go from
// recorder to scheduler. Nothing else is shared.
//
// # The life of a URL
//
// A URL is met as a seed, as a link or in a sitemap, and recorded with its host and the
// form in which it was named. It stands in the line of its host as soon as its depth
// brings it within reach and no list or rule keeps the crawl from it.
//
// The host is planned whenever something about it has changed: robots.txt first, then
// tries that are due, then the URLs in its line. What needs no request (a page that is
// settled, refused by a rule, or denied by robots.txt) is settled on the way. For the
// first one that does, a step is made. It leaves with the effects of the commit, waits
// in the scheduler until the clocks of its host and address have passed, and is asked
// by a visitor, who parses the answer and compresses what is to be kept.
//
// The outcome is first a fact about the host: its clocks go on, and an answer that asks
// for rest suspends it. Then package judge says what it means for the visit. HEAD, GET,
// another form of the URL and alias hops are steps of one visit; between them the visit
// waits in the scheduler, never in a visitor, ahead of the host's other pages. Another
// try waits in the host's record until it is due. Else the visit ends: it is appended to
// the log, with the links that it found, and the depth of its page travels over them.
//
// A step is sent under the clock of one address. Where its server is found at another
// one, or its address is dead and the next one's clock runs, nothing was asked: the step
// goes round again, to wait for the clock of that address.
//
// A URL leaves its line on disk in the transaction that records its visit, so a kill
// repeats a visit and loses none.
//
// # Depth
//
// Live, a page has its smallest depth over all origins and its distance by
// redirects alone. Both are minima that only sink; whoever lowers one passes it
// on over the links already recorded, so the order of visits does not matter. At
// most 10,000 pages pass on in one transaction; what is left over is part of the
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
// which is at depth 0 however it was found, when it is visited. Its links count only from
// then on.
//
// # The terrain derived anew
//
// [Reclassify] derives classes, depths and what waits from the recorded links
// alone, and [Replay] the links from the page store.
//
// # The page store
//
// A visitor waits while too much of what it has compressed is not yet written. Package
// record appends it during the transaction that refers to it, and package warc syncs it
// before that commits.
//
// # The end
//
// A run ends when no host has anything to do, nothing is open and everything is
// committed. The scheduler knows that exactly, because the recorder names every
// host that still has work, with the time at which it can be done.
package crawl
