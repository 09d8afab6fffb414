//go:build !linux && !darwin

package atomicfile

import "errors"

func exchange(_, _ string) error { return errors.ErrUnsupported }
