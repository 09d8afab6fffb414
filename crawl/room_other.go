//go:build !linux && !darwin

package crawl

// freeSpace is not known here.
func freeSpace(string) (uint64, bool) { return 0, false }
