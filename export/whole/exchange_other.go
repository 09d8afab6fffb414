//go:build !linux && !darwin

package whole

import "errors"

func exchange(_, _ string) error { return errors.ErrUnsupported }
