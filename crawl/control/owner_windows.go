package control

import "io/fs"

// ownerOf returns whose a file is: nothing that could be compared.
func ownerOf(fs.FileInfo) (uid int, known bool) { return 0, false }
