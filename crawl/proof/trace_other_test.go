//go:build !linux

package proof

import (
	"errors"
	"os/exec"
)

var errKilled = errors.New("killed")

func trace(*exec.Cmd, string, func([]diskEvent) bool) ([]diskEvent, error) {
	return nil, errors.ErrUnsupported
}
