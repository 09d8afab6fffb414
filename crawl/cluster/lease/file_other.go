//go:build !linux

package lease

// FileID identifies a file of this machine until the machine restarts. On this system it is always empty.
func FileID(string) (string, error) { return "", nil }

// FolderID identifies a folder of this machine. On this system it is always empty.
func FolderID(string) (string, error) { return "", nil }
