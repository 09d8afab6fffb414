//go:build !windows

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// notifyCrawl has the signals sent that only a crawl listens to.
func notifyCrawl(c chan<- os.Signal) { signal.Notify(c, syscall.SIGHUP, syscall.SIGUSR1) }

// outliveReaders has what is written to nobody fail, where it would end this process: who reads
// along, such as tee, may be ended first, by the same Ctrl-C.
func outliveReaders() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

func isReload(s os.Signal) bool { return s == syscall.SIGHUP }

// endsWithTerminal reports whether this process has a controlling terminal, and is to end when
// that is gone: nohup has its command ignore SIGHUP. It is asked before notifyCrawl, which ends that.
func endsWithTerminal() bool { return !signal.Ignored(syscall.SIGHUP) && hasTerminal() }

// hasTerminal reports whether the process has a controlling terminal.
func hasTerminal() bool {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return false
	}
	tty.Close()
	return true
}

// terminate ends this process as SIGTERM does.
func terminate() error { return syscall.Kill(os.Getpid(), syscall.SIGTERM) }
