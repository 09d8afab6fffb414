package desk

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// apart puts a process into a group of its own, so that Ctrl-C reaches only this process, which
// then ends the other.
func apart(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}

// Lowest gives this process the lowest priority.
func Lowest() { _ = windows.SetPriorityClass(windows.CurrentProcess(), windows.IDLE_PRIORITY_CLASS) }
