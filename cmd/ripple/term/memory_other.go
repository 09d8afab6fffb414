//go:build !linux

package term

import "github.com/KimMachineGun/automemlimit/memlimit"

// addressSpace is unlimited here, or its limit is unknown.
func addressSpace() (uint64, error) { return 0, memlimit.ErrNoLimit }
