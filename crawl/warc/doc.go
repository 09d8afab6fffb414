// Package warc implements the page store: the pages of a crawl as received, in files that web-archive tools
// read (WARC/1.1, ISO 28500:2017).
//
// A store consists of the segments of one name in a folder, "NAME-00001.warc.gz" and so on, each next to its
// index "NAME-00001.cdxj". Every record is a gzip member of its own, so that it can be read from its offset.
// A segment begins with a warcinfo record. Every page is a request record followed by a response record, or,
// if the store already has the same body, by a revisit record that refers to it by payload digest. If the
// page's scripts were run, the resulting document follows as a conversion record that refers to the response.
// Bodies are stored decoded; header fields about codings are kept with the prefix "X-Archive-Orig-" before
// their names. Heads are written as those of HTTP/1.1; what was spoken is in the fields WARC-Protocol
// (https://github.com/iipc/warc-specifications/issues/42), one for each layer: "h2", "tls/1.3".
//
// Digests are those of SHA-256 in base 16, which every reader knows; stores of earlier versions have them in base 32.
//
// # Durability
//
// A [Writer] does not decide which records count. After [Writer.Sync] has made a record durable, the caller
// that refers to it commits the [Position] after it, and next time opens the store at the last committed
// position. Open then truncates anything after that position and removes later segments, but never touches
// files of another name. If another process removes or changes a segment while it is being written, the next
// [Writer.Sync] fails.
//
// The index is derived. It is in record order while its segment is being written, is sorted when the segment
// is full or the writer is closed, and is rebuilt from the segment if it does not match.
//
// A [Writer] belongs to one goroutine, and so does a [Sealer]. A page is compressed where it was parsed, by
// the Sealer of that goroutine.
package warc
