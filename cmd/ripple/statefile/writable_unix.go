//go:build linux || darwin

package statefile

import "syscall"

// writable returns why nothing can be made in a folder.
func writable(dir string) error {
	const write, enter = 2, 1 // W_OK, X_OK
	return syscall.Access(dir, write|enter)
}
