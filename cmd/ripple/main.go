// Command ripple maps the terrain of the web around a curated list of domains.
//
// The commands are package command. What they do is in the packages below it: docs, term, statefile, seeds, desk,
// answer, show, output, decide, serve, session and demo, of which each imports only those before it. This file decides
// the exit code.
package main

import (
	"context"
	"errors"
	"io"
	"log"
	"os"

	"github.com/sumi-ripple/ripple/cmd/ripple/command"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
)

func main() { os.Exit(run(command.New(os.Stdout, os.Stderr))) }

func run(p command.Program) int {
	log.SetOutput(io.Discard) // net/http logs there what peers do wrong; a crawl records that
	ctx, stop := term.UntilSignal(context.Background(), os.Exit)
	defer stop()
	return exitCode(p.Run(ctx, os.Args[1:]))
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
	case term.IsUnfinished(err):
		return 3
	default:
		return 1
	}
}
