package term

import (
	"github.com/KimMachineGun/automemlimit/memlimit"
	"golang.org/x/sys/unix"
)

// addressSpace is what may be mapped besides the state file, which takes half of a limited space at most. What does not
// fit there ends a process.
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
