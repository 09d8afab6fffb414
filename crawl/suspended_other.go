//go:build !linux

package crawl

import "time"

// suspended is for how long the machine has been suspended since it was started;
// always 0 where that is not known.
func suspended() time.Duration { return 0 }
