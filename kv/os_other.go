//go:build !linux

package kv

import "os"

// holder names the process that holds the lock of a file.
func holder(string) string { return "another process" }

// withoutRoom explains an error of mapping.
func withoutRoom(err error) error { return err }

// willNeed asks the system to read a part of a file ahead, where that is possible.
func willNeed(*os.File, int64, int64) {}
