// Package proof tests what a crawl promises as a whole: it is killed, its disk loses power or
// fills, and its web is hostile, real or endless. README.md says what is proved, how far, and by
// which command.
//
// There is nothing here to import. Every crawl runs in a process of its own, which is another
// instance of this package's test binary.
package proof
