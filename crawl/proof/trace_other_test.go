//go:build !linux

package proof

import (
	"errors"
	"os/exec"
)

var errKilled = errors.New("killed")

func trace(*exec.Cmd, func([]diskEvent) bool, ...string) ([]diskEvent, error) {
	return nil, errors.ErrUnsupported
}
