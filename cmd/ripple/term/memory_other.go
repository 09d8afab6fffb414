//go:build !linux

package term

import "github.com/KimMachineGun/automemlimit/memlimit"

// addressSpace is not limited here, or nobody knows how.
func addressSpace() (uint64, error) { return 0, memlimit.ErrNoLimit }
