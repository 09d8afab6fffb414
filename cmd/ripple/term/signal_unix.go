//go:build !windows

package term

import (
	"os"
	"os/signal"
	"syscall"
)

// NotifyCrawl has the signals sent that only a crawl listens to.
func NotifyCrawl(c chan<- os.Signal) { signal.Notify(c, syscall.SIGHUP, syscall.SIGUSR1) }

// OutliveReaders has what is written to nobody fail, where it would end this process: who reads
// along, such as tee, may be ended first, by the same Ctrl-C.
func OutliveReaders() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

func IsReload(s os.Signal) bool { return s == syscall.SIGHUP }

// EndsWithTerminal reports whether this process has a controlling terminal, and is to end when
// that is gone: nohup has its command ignore SIGHUP. It is asked before notifyCrawl, which ends that.
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
