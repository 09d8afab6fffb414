package desk

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// apart puts a process into a group of its own: Ctrl-C is for this one alone, which then
// ends the other.
func apart(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}

// Lowest gives this process what of the processors nobody else wants.
func Lowest() { _ = windows.SetPriorityClass(windows.CurrentProcess(), windows.IDLE_PRIORITY_CLASS) }
