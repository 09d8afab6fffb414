// Package command holds the commands, one file each, named after it: the flags, the help, and a call of what does the
// work in another room. What looks after a state file (verify, compact, prune, replay) is done here itself.
package command
