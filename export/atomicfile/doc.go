// Package atomicfile publishes exports: a file or folder appears whole or not at all, and nothing
// that Ripple did not write is replaced unless forced.
//
// Output is written to a hidden folder next to its target, synced, and renamed to the target; then
// the parent folder is synced. A failure or a kill leaves the old target as it was, with two
// exceptions. If the system cannot exchange two folders, a kill may leave the old one next to its
// place, with a name that ends in ".ripple-old". And in a folder with other programs' files, files
// are replaced one by one.
//
// If the target is a link, the file or folder behind it is replaced.
//
// The hidden folder is locked while its process lives. The next process that writes there removes
// the leftovers of a kill.
//
// A file is Ripple's own if its beginning says so, which each format knows. A folder is Ripple's
// own if it is empty, or if a file named [Manifest] says so and lists all files in the folder.
package atomicfile
