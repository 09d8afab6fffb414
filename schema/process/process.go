// Package process tells tests what a process has used of the machine: the time of its processors, which other work on
// the machine does not lengthen as it does the clock's, and memory.
package process
