// Package kv is the live state of a crawl: one bbolt file, and what is held in
// memory of it.
//
// A [Store] is changed by transactions that are durable when they return, and
// never in part. Nothing in memory is authoritative: it is read from the file
// when the store is opened, follows every change at once, and is given up with
// the store when a transaction fails.
//
// Package schema defines what records mean. This package knows how they are written, finds them again, keeps the queues
// of waiting URLs and the smallest depths, and tells a damaged file from a whole one.
//
// # Rooms
//
// A [Store] opens, locks and closes the file and begins transactions. Its place finds out when the file is lost; its
// index is what is held in memory of the URLs, and may be asked outside of transactions too. A [Tx] begins and ends
// them; what happens in between is the work of its owners. Only its owner writes a bucket; Prune, which copies buckets,
// is the exception:
//
//	owner     buckets                    may ask
//	Hosts     hosts, hostnames, robots
//	URLs      urls, seen, forms, shapes  Hosts
//	Visits    visits, anchors, done      URLs
//	Frontier  frontier                   Hosts, to whose records it gives the ends of the queues
//	Depths    depths; meta "pending"
//	Runs      runs, configs, caps; meta "history/"
//	Vouchers  vouchers
//	Inlinks   inlinks
//	Meta      meta "value/"
//	Messages  meta "message/"
//	Openings  meta "opening/"
//	Part      meta "part"                Hosts, for the names that tell a shard
//	Outbox    outbox
//	Inbound   inbound
//	Peers     peers
//
// All of them read and write through the base, which seals values, opens them and
// keeps the counters: meta "format" and "state". No owner asks one that is listed after it.
//
// [Check], [Compact] and [Store.Prune] are about whole files.
//
// # The file
//
// The speed of bbolt is decided by the number of leaf pages that a commit
// changes. So ids are dense and records are appended; the small facts of a
// commit are packed into one value per bucket; of several facts about one thing
// the last, or the smallest, counts.
//
// Numbers in keys are unsigned and big-endian. A packed value has the key
// commit u64, part u16: it is split into parts at 256 KB.
//
//	bucket     key                              value
//	meta       "format"                         version, seed of the hashes (8 bytes)
//	           "state"                          commit, URLs, hosts, visits, generation, runs, values in shapes,
//	                                            values in depths of the generation, pending?, reapply?
//	           "pending"                        list of URL ids
//	           "value/" name                    bytes
//	           "history/" run u32               s between points, number, then of each the time (ms) less that of the
//	                                            point before, pages, requests, errors, waiting pages
//	           "message/" u64                   id, kind, made (ms), tries, next (ms), body (all texts)
//	           "opening/" commit u64            16 random bytes
//	           "part"                           id of the terrain (16 bytes), version of the rule, shard, shards,
//	                                            numbers of run and configuration, and the shards that are missing in
//	                                            a file of several
//	configs    hash, 32 bytes                   zstd
//	runs       run u32                          a run
//	hosts      host u32                         a host in the order of encodeHost, beginning with its name. A queue:
//	                                            priority (byte), head chunk, position in it (byte), tail chunk, list of
//	                                            fewer than 64 ids that are not in a chunk yet. What the host
//	                                            answered for a page that does not exist is in the order of
//	                                            encodeMissing; what its owner says about use is one text
//	hostnames  labels in reverse, each with a   host
//	           comma, then ":" port; an IP
//	           address is one label
//	robots     host u32                         fetched (ms), status, has text?, zstd
//	urls       block u64: (URL - 1) / 32        number, then per URL: a byte (bits 0-2 kind; 3-6: host, referrer,
//	                                            first seen (s), first run follow because they are not those of the
//	                                            URL before), path and query
//	forms      URL u64                          of the forms of the URL that do not follow from its identity: number
//	                                            and texts of the own ones; number of the foreign ones, and of each the
//	                                            text, and whether nothing was found there; number and hashes of the
//	                                            foreign ones that have lost their place
//	seen       packed                           first id, number, then per new URL: hash (8 bytes), host less the host
//	                                            before, the shapes with the kind from bit 5 on, and the shapes of own
//	                                            forms (bytes)
//	shapes     packed                           first id, number, then per older URL with a new shape: id less the id
//	                                            before, all its shapes, and those of own forms (bytes)
//	visits     visit u64                        URL, links, then the other fields in the order of encodeVisit. Links:
//	                                            twice their number, plus 1 if they have anchors; then each: target
//	                                            less the one before, a byte (bits 0-2 place, 3-5 rel, 6: kinds follow
//	                                            in a number because the link is not a plain anchor, from its
//	                                            bit 1 on; bit 0: all others but the canonical one and the feed
//	                                            carry nofollow). The
//	                                            known forms are one number: their shapes, from bit 4 on those of own
//	                                            forms, and from bits 8 and 24 on the sums of the others and of the
//	                                            own others
//	anchors    packed                           first and last visit, zstd of: visit, number of links, their texts
//	done       packed                           first visit, number, then the URLs, each less the one before
//	depths     generation u32, then as packed   first id, number, then per URL that came nearer: id less the id before,
//	                                            smallest depth and smallest hops (bytes, 255: none), whether it is
//	                                            its host's own. The smallest count
//	frontier   host u32, priority u8, chunk u32 exactly 64 URL ids, each less the one before
//	caps       128-bit hash of rule, NUL, group run, count, the most of an earlier run
//	vouchers   sitemap u32, voucher             the last run in which it vouched
//	inlinks    0                                release, domains?, read at (ms), origins (texts), and of each the number
//	                                            of its hosts in the graph, vertices, edges, sources, sources left out,
//	                                            unreadable lines, ranked?; without it the others do not count
//	           labels in reverse, each with a   hosts of the domain, rank by harmonic centrality, by PageRank, numbers of
//	           comma                            origins
//	outbox     shard u8, URL u32: the first of  number, then per URL in the outbox: its id less the first (byte), and
//	           64 that may be there             the commit that marked it last
//	inbound    URL u32                          numbers of run and configuration, depth and hops (bytes), listed?,
//	                                            changed (s), time between changes (ns)
//	peers      shard u8                         opening (16 bytes), commit, cursor
//
// A value is a format byte, which is 1, its fields, and a CRC32C (little-endian)
// over the bucket's name, the key, the format byte and the fields. Fields are
// varints unless said otherwise, zigzag-coded where they can be negative, as
// differences are. A text or list begins with its length. A time is 0 for the
// zero time, or 1 more than the zigzag-coded milliseconds or seconds since 1970.
// A date of a header is such a time if that gives its text back, or 0 and the
// text; a content type or charset is its number in knownWords, or 0 and the
// text. A zstd field begins with the length of what it holds. A
// set of shards is their number, and each as a byte.
//
// A [schema.Reason] is its cause (byte), and unless that is 0 the detail, the status, the
// wait (us) and the name of another host. A [schema.End] is its kind (byte), unless that is 0
// the detail, a number and a time (us), and the shards that had no part in the run.
//
// A change of the format takes a new version (formatVersion in create.go), unless no release has written the version
// that it changes. A file of any other version is refused.
//
// The value "part" and the last three buckets are only in a file that holds one shard of
// a terrain, or several but not all, see [Part].
//
// # What is synced when
//
// A commit is the only sync of an open store: [Store.Update] returns when the pages
// that the transaction changed, and after them the page that makes them count, are on
// the disk. Until then the commit before it stands.
//
// A new file, of [Open], [Compact] or [Store.Prune], is synced when it is whole. Open
// then gives it its name and syncs the folder. Compact and Prune leave the name to
// their callers, who give it by [Rename], which syncs the folder too. A copy by
// [Store.Snapshot] is its writer's to sync.
//
// # In memory
//
// A table from hash to id (12-byte slots, 16 to 24 bytes a URL), which a store that is
// only read makes when it is needed, and by id: host, latest visit, depth, hops, shapes
// with kind, and shapes of own forms, 12 bytes. A 64-bit hash is
// taken to identify a URL of its host: seeded as it is, two URLs of one host meet
// by accident only, once in 10^5 files of 17 million URLs. If the hosts differ,
// or several URLs have the hash, the record decides.
//
// # Damage
//
// Before the file is mapped its pages are checked for what bbolt would follow into a crash: all of them up to 32 MB,
// and beyond that its branches and the names of hosts. Every value's checksum is compared whenever it is read; gaps in
// what is dense are found. Faults of the mapping and panics of bbolt become [ErrDamaged]. A whole page that has
// reverted to an earlier state cannot be detected.
//
// A checksum says nothing about who wrote a value, and a file may come from anybody. So
// what no release writes is damage too: a field that decompresses to more than it may
// hold, and what is there twice.
//
// A file that is removed, replaced, cut or written to by somebody else while it is
// open is found by the commit after that at the latest, which fails with ErrLost:
// nothing is written into a file that has lost its name.
package kv
