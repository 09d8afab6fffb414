//go:build !linux && !darwin

package disk

// Free is not known here.
func Free(string) (bytes uint64, known bool) { return 0, false }
