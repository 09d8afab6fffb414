// Package disk provides file system operations that package os lacks: syncing a folder, locking a file,
// copying its owner, and the free space. Each function documents what it does on systems that do not
// support it.
package disk
