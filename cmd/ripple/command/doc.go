// Package command holds the commands, each in a file named after it: the flags, the help, and a call to the package
// that does the work.
package command
