//go:build !linux

package kv

// holder names the process that holds the lock of a file.
func holder(string) string { return "another process" }

// withoutRoom says of an error of mapping what it ran into.
func withoutRoom(err error) error { return err }
