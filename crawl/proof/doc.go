// Package proof holds the tests of what a crawl promises as a whole: it is killed, its disk loses power or fills, its
// web is hostile, real, or without end. README.md says what is proved, how far, and by which command.
//
// There is nothing here to import. Every crawl runs in a process of its own, which is this package's test binary again.
package proof
