package control

import "io/fs"

// ownerOf returns no owner: there is none to compare.
func ownerOf(fs.FileInfo) (uid int, known bool) { return 0, false }
