//go:build !unix

package crawl

import "time"

// CPUTime is not known here.
func CPUTime() time.Duration { return 0 }
