//go:build !windows

package term

import (
	"os"
	"os/signal"
	"syscall"
)

// NotifyCrawl sends the signals to c that only a crawl listens to.
func NotifyCrawl(c chan<- os.Signal) { signal.Notify(c, syscall.SIGHUP, syscall.SIGUSR1) }

// OutliveReaders makes a write to a closed pipe fail instead of ending this process. A reader such as tee may get the
// same Ctrl-C and end first.
func OutliveReaders() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

func IsReload(s os.Signal) bool { return s == syscall.SIGHUP }

// EndsWithTerminal reports whether this process has a controlling terminal and is to end with it. nohup makes its
// command ignore SIGHUP. Call it before NotifyCrawl, which changes that.
func EndsWithTerminal() bool { return !signal.Ignored(syscall.SIGHUP) && HasTerminal() }

// HasTerminal reports whether the process has a controlling terminal.
func HasTerminal() bool {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return false
	}
	tty.Close()
	return true
}

// Terminate ends this process as SIGTERM does.
func Terminate() error { return syscall.Kill(os.Getpid(), syscall.SIGTERM) }
