package term

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// Grace is how long a command may take to end after a signal. A crawl lets open requests finish for 10 s and then
// commits.
const Grace = 20 * time.Second

// echo is how long after a signal another one counts as the same. timeout(1) signals both its command and the command's
// process group, as does a wrapper that forwards what the terminal has already sent to both.
const echo = 200 * time.Millisecond

// A SignalError reports that a signal ended a command.
type SignalError struct{ Signal syscall.Signal }

func (e SignalError) Error() string {
	switch e.Signal {
	case syscall.SIGINT:
		return "stopped by SIGINT"
	case syscall.SIGTERM:
		return "stopped by SIGTERM"
	}
	return "stopped by " + e.Signal.String()
}

func (e SignalError) Code() int { return 128 + int(e.Signal) }

// UntilSignal returns a context that the first SIGINT or SIGTERM cancels, with a SignalError as its cause. A second
// signal, or the end of Grace, calls exit.
func UntilSignal(parent context.Context, exit func(int)) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	got := make(chan os.Signal, 2)
	over := make(chan struct{})
	signal.Notify(got, syscall.SIGINT, syscall.SIGTERM)
	go obey(got, over, cancel, exit) // ends with the process, or by the function returned
	return ctx, func() {
		signal.Stop(got)
		close(over)
		cancel(nil)
	}
}

// obey is the goroutine of UntilSignal.
func obey(got <-chan os.Signal, over <-chan struct{}, cancel context.CancelCauseFunc, exit func(int)) {
	var first SignalError
	select {
	case s := <-got:
		first.Signal, _ = s.(syscall.Signal)
	case <-over:
		return
	}
	cancel(first)
	begun, late := time.Now(), time.After(Grace)
	for {
		select {
		case <-got:
			if time.Since(begun) < echo {
				continue
			}
		case <-late:
		case <-over:
			return
		}
		exit(first.Code())
		return
	}
}
