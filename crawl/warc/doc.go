// Package warc is the page store: the pages of a crawl as it got them, in files
// that the tools of web archives read (WARC/1.1, ISO 28500:2017).
//
// A store is the segments of one name in a folder, "NAME-00001.warc.gz" and so
// on, each beside its index "NAME-00001.cdxj". A record is a gzip member of its
// own, so that it can be read from its offset. A segment begins with a warcinfo
// record; every page is a request record followed by a response record, or, if
// the store has the same body already, by a revisit record that names it by its
// payload digest. Where its scripts were run, the document that they made of it follows, as a
// conversion record that refers to that of the answer. Bodies are stored decoded; the fields of the head that spoke of
// codings are kept with "X-Archive-Orig-" before their names.
//
// # Durability
//
// A [Writer] does not decide what counts: whoever refers to a record commits the
// [Position] behind it, after [Writer.Sync] has made it durable, and opens the
// store at the last committed position next time. What lies beyond is cut off
// then, and segments beyond are removed, but never anything of another name. A segment
// that somebody else takes away, or writes to, while it is being written is found by the
// next [Writer.Sync], which fails.
//
// The index is derived. It is in the order of records while its segment is being
// written, is sorted when that is full or the writer closed, and is made again
// from the segment where it does not fit.
//
// A [Writer] belongs to one goroutine. [Seal] may be called from any, so that
// pages are compressed where they are fetched.
package warc
