//go:build !unix

package process

import (
	"os"
	"time"
)

// CPUTime is not known here.
func CPUTime() time.Duration { return 0 }

// MaxResident is not known here.
func MaxResident(*os.ProcessState) int64 { return 0 }
