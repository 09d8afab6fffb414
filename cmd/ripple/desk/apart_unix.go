//go:build unix

package desk

import (
	"os/exec"
	"syscall"
)

// apart puts a process into a group of its own, so that Ctrl-C reaches only this process, which
// then ends the other.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// Lowest gives this process, which is alone in its group, the lowest priority.
func Lowest() { _ = syscall.Setpriority(syscall.PRIO_PGRP, 0, 19) }
