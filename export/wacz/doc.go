// Package wacz writes web archives in one file: Web Archive Collection Zipped, version 1.1.1
// (https://specs.webrecorder.net/wacz/1.1.1/).
//
// The file is a zip file with these entries, in this order:
//
//	archive/NAME.warc.gz     the records, stored as they are, so that players can read one of them from its offset
//	indexes/index.cdx.gz     a line of CDXJ for each page in the order of the keys, 300 lines in each gzip member
//	indexes/index.idx        the first key and time of each of these members, and its place
//	pages/pages.jsonl        a line of JSON for each page: url, ts, title
//	datapackage.json         what is in the file, with the length and the SHA-256 of each entry
//	datapackage-digest.json  the SHA-256 of that
//
// A [Writer] needs the same memory for any number of pages; what has to be sorted is sorted on disk. It writes nothing
// that depends on when or where it runs: the same records and titles give the same bytes.
package wacz
