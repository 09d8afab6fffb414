//go:build !windows

package control

// privateModes says whether file modes tell who may enter a folder.
const privateModes = true
