package term

import (
	"github.com/KimMachineGun/automemlimit/memlimit"
	"golang.org/x/sys/unix"
)

// addressSpace returns what may be mapped apart from the state file, which takes at most half of a limited address
// space. A process that needs more ends.
func addressSpace() (uint64, error) {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_AS, &limit); err != nil {
		return 0, err
	}
	if limit.Cur == unix.RLIM_INFINITY {
		return 0, memlimit.ErrNoLimit
	}
	return limit.Cur / 2, nil
}
