// Package disk asks of a file system what package os does not: to keep names over a
// loss of power, to lock a file, whose it is, and how much room is left. Each function says what it
// does where the system cannot answer.
package disk
