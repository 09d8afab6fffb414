package main

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A crawl ends with its terminal, as with SIGTERM, unless nohup prevents that: then it reloads its
// configuration, as with any SIGHUP.
func TestTerminalGone(t *testing.T) {
	t.Parallel()
	master, slave := openTerminal(t)
	c := startWith(t, time.Minute, atTerminal(slave))
	master.Close()
	if code := c.wait(); code != 143 {
		t.Errorf("without nohup: exit code %d, want 143", code)
	}
	master, slave = openTerminal(t)
	c = startWith(t, time.Minute, func(cmd *exec.Cmd) {
		atTerminal(slave)(cmd)
		nohup, err := exec.LookPath("nohup")
		if err != nil {
			t.Skip(err)
		}
		cmd.Path, cmd.Args = nohup, append([]string{"nohup"}, cmd.Args...)
	})
	master.Close()
	c.awaitTold("the configuration was read again")
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := c.wait(); code != 143 {
		t.Errorf("after SIGTERM: exit code %d, want 143", code)
	}
}

// atTerminal makes a command lead a session at a terminal.
func atTerminal(slave *os.File) func(*exec.Cmd) {
	return func(cmd *exec.Cmd) {
		cmd.Stdin = slave
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	}
}

// openTerminal opens a terminal, which is gone once its master is closed.
func openTerminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { master.Close() })
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { slave.Close() })
	return master, slave
}
