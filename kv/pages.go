package kv

import (
	"fmt"
	"os"
)

// checkPages refuses files whose pages cannot be mapped without harm.
func checkPages(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.Size() < 4*1024 {
		return fmt.Errorf("%w: only %d bytes", ErrForeign, info.Size())
	}
	return nil
}
