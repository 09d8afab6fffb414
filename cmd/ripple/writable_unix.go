//go:build linux || darwin

package main

import "syscall"

// writable reports why nothing can be made in a folder.
func writable(dir string) error {
	const write, enter = 2, 1 // W_OK, X_OK
	return syscall.Access(dir, write|enter)
}
