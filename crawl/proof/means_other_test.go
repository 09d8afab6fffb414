//go:build !linux && !darwin

package proof

// limitDescriptors is not available on this system.
func limitDescriptors(string) error { return nil }
