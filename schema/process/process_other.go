//go:build !unix

package process

import (
	"os"
	"time"
)

// CPUTime returns 0: unknown on this system.
func CPUTime() time.Duration { return 0 }

// MaxResident returns 0: unknown on this system.
func MaxResident(*os.ProcessState) int64 { return 0 }
