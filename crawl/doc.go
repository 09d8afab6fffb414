// Package crawl walks the terrain: it is the ring of scheduler, visitors, attribution and recorder.
//
// The scheduler knows when a host may be requested and which one is next. A visitor makes one request and waits for the
// answer; a parser interprets it. They own nothing. Behind the visitors, attribution separates the faults of this
// machine, such as a network that is away, from those of hosts. The recorder has two parts: a committer gathers
// outcomes into batches and commits each batch in one transaction; a [record.Recorder], which owns the durable hosts,
// decides what they mean and what is requested next. One trip round the ring is one request: a [ring.Step] goes from
// scheduler to visitor, a [ring.Outcome] from visitor through attribution to recorder, and after the commit
// [ring.Effects] go from recorder to scheduler. [Shared] holds what all crawls of one process share: the resolver, the
// clocks of addresses, slots and the state of the network.
//
// # The life of a URL
//
// A URL is met as a seed, as a link or in a sitemap, and recorded with its host and the form in
// which it was named. It joins the line of its host as soon as its depth brings it within reach and
// no list or rule keeps the crawl from it.
//
// The host is planned whenever something about it has changed: robots.txt first, then tries that are due, then the URLs
// in its line. A page that needs no request, because it was visited already or a rule or robots.txt forbids it, is
// settled at once. The first page that needs one becomes a step. The step leaves with the effects of the commit and
// waits in the scheduler until the clocks of its host and its address have passed. Then a visitor makes the request and
// receives the answer as it was sent, in little memory, because this may take minutes. Parsers are few, and wait only
// for the recorder: one of them decodes the answer, reads it and compresses what is kept.
//
// The outcome first says something about the host: its clocks are set, and an answer that asks the crawl to wait
// suspends the host. Then package judge says what it means for the visit, which is one of four things. The visit
// continues with another step: a GET after a HEAD, another form of the URL, a redirect to such a form; it waits in the
// scheduler, never in a visitor, ahead of the host's other pages. Or the page is tried again later, and waits in the
// host's record until it is due. Or the host is suspended, and the page keeps its place in line. Or the visit ends: it
// is appended to the log, with the links that it found, and the depth of the page is propagated along them.
//
// A step is sent under the clock of one address. If its server is found at another one, or its
// address is dead and the next one's clock is running, no request is made: the step goes round
// again, to wait for the clock of that address.
//
// A URL leaves its line on disk in the transaction that records its visit, so a kill repeats a
// visit and loses none.
//
// # Depth
//
// Live, a page has its smallest depth over all origins and its distance by redirects alone. Both
// are minima that only decrease. A page whose minimum decreases passes it on over the links already
// recorded, so the order of visits does not matter. At most 10,000 pages pass on in one
// transaction; what is left over is part of the state.
//
// # A run over an old terrain
//
// The next run walks again from the seeds. A page that an earlier run has visited is requested with
// conditions. A page that is younger than min-age, that its answer declared fresh, or that its
// sitemap declares unchanged, is recorded as kept without a request. So is a page for which the
// budget leaves no request.
//
// What earlier runs left waiting is in line when the run begins, and what was never visited comes
// first, so a host larger than its budget is completed over several runs. Pages that were left
// waiting are found along the current links. They wait without a depth, because a link may have
// disappeared. Such a page gets its depth when the run reaches it, or, if it belongs to an origin
// and so is at depth 0 however it was found, when it is visited. Its links count only from then on.
//
// # Deriving the terrain again
//
// [Reclassify] derives classes, depths and what waits from the recorded links alone, and [Replay]
// derives the links from the page store. [Import] reads web archives in place of servers: a parser
// reads each answer, and the recorder records it without a ring.
//
// # What is in memory
//
// A parser waits with its outcome while too many bytes of other outcomes are not yet committed: a
// page may name a hundred times its size in links. The limit follows from [Shared.LimitMemory]. It
// decides when something is recorded, never what.
//
// # The page store
//
// A visitor compresses the pages that are kept. Package record appends them during the transaction
// that refers to them, and package warc syncs them before that commits.
//
// # A shard of a terrain
//
// With [Options.Shard] the state file is one of several. URLs of hosts that belong to another shard
// are recorded and sent to it; none of those hosts is requested. Every shard begins with its own
// seeds, since all have the same configuration. A sender for each other shard is woken by the
// commits that leave it something to send. Messages of other shards come through [Crawl.Answer],
// are committed like outcomes, and are answered after that. All of them reach the file through the
// committer, between two commits.
//
// A sitemap on another shard's host is sent to that shard, which reads it. If a robots.txt
// redirects to such a host, or scripts need a resource from it, that shard makes the request and
// reports the answer. The step waits in the line of the host like every other, and the visitor
// sends a letter instead of a request. The owner keeps the answer, so all shards get the same one,
// and the host is requested once.
//
// The shard may be worked on while its [Lease] is held, which is checked before each request and
// each commit. When it is lost, open requests are cancelled, nothing more is written, and
// [Crawl.Run] ends with [ErrLease].
//
// # A robots.txt on another host
//
// The robots.txt of many hosts may redirect to URLs of one other host, whose own robots.txt has not been read. One
// answer serves all of them, and later ones while it is fresh. An address that is not itself that of a robots.txt is
// requested only if the host's own robots.txt, which is requested first, permits it. Waiting for that uses up no try.
// Ten such addresses of a host are requested in a run, which its record counts; a host that is redirected to a further
// one waits for the next run. The requests wait for the clock of the host and count for its budget, which does not stop
// them.
//
// Hosts may wait for each other in a circle, even across shards: then none of them has a robots.txt
// in this run. A shard that has no report yet says which host it waits for, so that the circle is
// detected where it closes.
//
// # The end
//
// A run ends when no host has anything to do, nothing is open and everything is committed. The
// scheduler knows that exactly, because the recorder names every host that still has work, with the
// time at which it can be done.
//
// A shard that has reached this point may receive work at any moment. It keeps running, and reports
// its state through [Crawl.Reading]. Package termination detects when no shard has anything to do,
// and then ends them through [Crawl.Finish].
//
// # The packages, by stage
//
// What travels round the ring:
//   - ring: steps, outcomes and effects
//
// Who is requested next, and when:
//   - pace: the next host
//   - clock: the clocks of a host and of its retries
//   - slots: how many requests are open at a time
//   - outage: whether this machine's own network is away
//
// One request:
//   - fetch: the request, with its limits
//   - lenient: HTTP/1 as browsers read it
//
// What an answer contains:
//   - wall: whether it is a page at all
//   - media: its type
//   - charset: its encoding
//   - page: the links and facts of an HTML page
//   - simhash: a fingerprint of its text
//   - maze: whether it belongs to a part of its host that never ends
//   - robots: what a robots.txt allows
//   - sitemap: the URLs of a sitemap
//   - opml: the entries of a list of links
//   - render: the page as its scripts leave it
//   - answers: what these scripts get
//
// What becomes of it:
//   - judge: what an answer means for a page and its host
//   - record: what is written, and what is requested next
//   - warc: the page store
//   - archive: the records of web archives
//
// For those who watch or steer a crawl:
//   - control: the API of a running crawl
//   - census: what is left to do, and for how long
//   - meter: Prometheus
//   - webhook: events for one address
//   - gctune: how far the heap may grow
//
// A crawl by more than one machine:
//   - cluster: the packages that only such a crawl needs
//   - cluster/node: the part of one machine
//   - cluster/hub: the server through which machines talk
//   - cluster/lease: who may work on a shard
//   - cluster/exchange: URLs for other shards
//   - cluster/snapshot: copies of the files of shards, for questions about the map
//   - cluster/termination: the common end of all shards
//   - cluster/transfer: a copy of a file that may still change
//   - cluster/strictjson: messages between machines
//
// Tests:
//   - webtest: a synthetic web
//   - crawltest: what tests of a crawl need
//   - proof: the proofs of what a crawl promises
package crawl
