package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// grace is how long a command may take to end after a signal: a crawl finishes
// what is open within 10 s and then commits.
const grace = 20 * time.Second

// A signalError is why a command ended early.
type signalError struct{ signal syscall.Signal }

func (e signalError) Error() string {
	switch e.signal {
	case syscall.SIGINT:
		return "stopped by SIGINT"
	case syscall.SIGTERM:
		return "stopped by SIGTERM"
	}
	return "stopped by " + e.signal.String()
}

func (e signalError) code() int { return 128 + int(e.signal) }

// untilSignal returns a context that the first SIGINT or SIGTERM ends, with a
// signalError as its cause. The second one, or the end of the grace, calls exit.
func untilSignal(parent context.Context, exit func(int)) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	got := make(chan os.Signal, 2)
	over := make(chan struct{})
	signal.Notify(got, syscall.SIGINT, syscall.SIGTERM)
	go func() { // ends with the process, or by the function returned
		var first signalError
		select {
		case s := <-got:
			first.signal, _ = s.(syscall.Signal)
		case <-over:
			return
		}
		cancel(first)
		select {
		case <-got:
		case <-time.After(grace):
		case <-over:
			return
		}
		exit(first.code())
	}()
	return ctx, func() {
		signal.Stop(got)
		close(over)
		cancel(nil)
	}
}
