//go:build !linux

package kv

import "os"

// holder names the process that holds the lock of a file.
func holder(string) string { return "another process" }

// withoutRoom says of an error of mapping what it ran into.
func withoutRoom(err error) error { return err }

// willNeed has the system begin to read a part of a file, where it can be told so.
func willNeed(*os.File, int64, int64) {}
