// Package inflate decompresses DEFLATE streams (RFC 1951) and gzip members (RFC 1952), about twice as fast as the
// libraries for Go: it decodes from a 64-bit buffer that is filled without a branch, and copies eight bytes at a time.
//
// A [Reader] takes its input from a [bufio.Reader], and leaves it directly behind the stream. It needs 100 KB, whatever
// the stream holds.
package inflate
