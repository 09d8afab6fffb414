// Package term is how the program talks and how it ends: the screen, messages and progress on stderr, errors with
// hints and exit codes, signals, and the memory limit of the process. Every other package of the command imports it.
package term
