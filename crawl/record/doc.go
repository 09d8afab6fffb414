// Package record turns outcomes into the durable state of a crawl, and decides which requests to make next. It waits
// for nothing: the committer of package crawl gathers outcomes and commits them.
//
// Everything happens in a turn, which is one transaction: [Recorder.Turn] applies the outcomes of a batch, propagates
// depths, and plans every host that was affected. A turn only orders the calls. The decisions are made by its owners,
// each of which calls only owners that are listed before it:
//
//	hosts     the durable hosts, those in memory, who was touched and must be planned, who is given up
//	urls      what is met is recorded: a URL, its host, its forms; the limits on what is recorded
//	robots    the cache of robots.txt: its rules, the tries to get it, redirects to other hosts
//	quotas    caps, budgets, max-pages, max-subdomains: reserve, release, count
//	mazes     parts of hosts that never end: noticed, left, looked at again
//	builder   an outcome becomes a visit, with the URLs that it leads to; the page store
//	ledger    the log of visits, what needs no visit any more, the counts of the run
//	reach     depths: carried over links, travelling on, into the line of a host; sitemaps
//	delegated requests for other shards of the terrain, and their reports
//	plan      the next request to a host; chooser, the next page of a host
//
// All of them read the run state: the transaction, the run, the configuration. The ledger
// counts in the run.
//
// # The way of an outcome
//
//	hosts.change, clock.Observe, live.heard, hosts.throttle   facts, whatever the answer means
//	judge.Robots, robots.apply                                a robots.txt ends here,
//	    or by robots.answered, robots.serveOn                 those that redirect to the same address
//	ledger.done, robots.ofVisit, judge.Page                   what the answer means
//	    the visit's next step waits in the host's memory
//	quotas.release                                            or it does not go on:
//	    another try waits in the host's record
//	builder.visit, quotas.countVisit                          or it ends:
//	settle: ledger.record, reach.reopen, reach.carry
//	reach.travel                                              once a turn
//	until no host is touched: plan.decide, then what it says
//
// A decision is a request to make, a time to wake the host, or something to do first: give the host up, queue its
// sitemaps, drop a step, settle pages that need no request. Only settle leads back to the visit steps above, and apart
// from [Recorder.Reread] it is the only code that appends to the log.
//
// # Pages that only another origin's sitemap names
//
// They are recorded, without a date, and not requested until a page links to them. Requesting them at the end of their
// host's line would still spend what is left of its budget on addresses that the other origin may have invented.
//
// Sitemaps that only others name on an origin's host wait behind its pages, and are counted apart from its own.
//
// # Where things are
//
// What a status or a failure means, such as a 503, is decided in package judge; how long it suspends a host, in package
// clock. A new limit on requests goes into quotas, whose comment says what it takes; one on what is recorded goes into
// urls. Before every request, plan and chooser check with quotas that it is allowed; package survey of kv derives the
// state of a refused page from the same rules. Which page comes first follows from the priorities of package schema;
// the chooser decides which pages need no request. What a visit records is put together in visitbuilder.go.
//
// # What is synced when
//
// Pages for the page store are appended during a turn, and synced (package warc) before its transaction commits; the
// commit is the sync of package kv, and says up to where the page store counts. Nothing else that a crawl needs is
// written: the index of the page store and the metrics are derived. The steps of a turn are sent after its commit, so a
// kill repeats a visit and loses none.
package record
