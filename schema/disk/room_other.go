//go:build !linux && !darwin

package disk

// Free returns known = false: the free space is not known here.
func Free(string) (bytes uint64, known bool) { return 0, false }
