//go:build !unix

package crawl_test

import "os"

// maxResident is not known here.
func maxResident(*os.ProcessState) int64 { return 0 }
