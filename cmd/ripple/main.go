// Command ripple maps the terrain of the web around a curated list of domains.
//
// Every command has a file of its own, named after it. What a command says and how it ends is package term; how state
// files are found, opened and copied is package statefile. This file decides the exit code.
package main

import (
	"context"
	"errors"
	"io"
	"log"
	"os"

	"github.com/sumi-ripple/ripple/cmd/ripple/term"
)

func main() {
	log.SetOutput(io.Discard) // net/http tells there what peers send amiss; a crawl records that
	os.Exit(run(os.Args[1:]))
}

func run(args []string) int {
	ctx, stop := term.UntilSignal(context.Background(), os.Exit)
	defer stop()
	a := newApp(os.Stdout, os.Stderr)
	err := a.execute(ctx, args)
	a.voice.Complain(err)
	return exitCode(err)
}

// exitCode is where every way to end gets its number.
func exitCode(err error) int {
	var sig term.SignalError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &sig):
		return sig.Code()
	case term.IsUserError(err):
		return 2
	default:
		return 1
	}
}
