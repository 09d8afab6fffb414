//go:build unix

package desk

import (
	"os/exec"
	"syscall"
)

// apart puts a process into a group of its own: Ctrl-C is for this one alone, which then
// ends the other.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// Lowest gives this process, which is alone in its group, what of the processors nobody
// else wants.
func Lowest() { _ = syscall.Setpriority(syscall.PRIO_PGRP, 0, 19) }
