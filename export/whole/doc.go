// Package whole puts exports in place: a file or folder appears whole or not at
// all, and nothing is replaced that Ripple did not write, unless it is forced to.
//
// What is written grows in a hidden folder beside its target, is synced, and then
// takes the target's name; the folder around is synced after that. A failure or a
// kill leaves the old one as it was, but for two cases: where the system cannot
// exchange two folders, a kill may leave the old one beside its place, its name ending
// in ".ripple-old"; and into a folder with files of others, files are moved one by one.
//
// Of a link, what it leads to is replaced.
//
// The hidden folder is locked while its process lives; what a kill leaves behind is
// removed by whoever writes there next.
//
// A file is Ripple's own if its beginning says so, which each format knows. A
// folder is, if it is empty, or if a file named [Manifest] says so and no other
// files are in it than those that it lists.
package whole
