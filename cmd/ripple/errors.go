package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/render"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/unite"
	"github.com/sumi-ripple/ripple/schema/config"
)

// A usageError is a wrong use of the command line.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usage(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

// errQuiet ends a command with 1 whose output has said everything.
var errQuiet = errors.New("said")

// A hinted error says what can be done about it.
type hinted struct {
	error
	hint string
}

func (h *hinted) Unwrap() error { return h.error }

func hint(err error, format string, args ...any) error {
	return &hinted{err, fmt.Sprintf(format, args...)}
}

// mendable reports whether whoever called has to write something else, the
// command line or the configuration, or got no verdict.
func mendable(err error) bool {
	var u *usageError
	var c *config.Errors
	var f *configError
	var r *undecided
	return errors.As(err, &u) || errors.As(err, &c) || errors.As(err, &f) || errors.As(err, &r) ||
		errors.Is(err, crawl.ErrIdentity) || errors.Is(err, render.ErrNoBrowser) ||
		errors.Is(err, render.ErrNoSandbox) ||
		errors.Is(err, kv.ErrForeign) || errors.Is(err, kv.ErrMemory) || errors.Is(err, unite.ErrShards) ||
		errors.Is(err, crawl.ErrPart)
}

// A configError is why a configuration that is valid cannot be followed.
type configError struct{ error }

func (e *configError) Unwrap() error { return e.error }

func unfollowed(err error) error { return &configError{err} }

// complaint is the last thing that a failed command says; empty if it has said
// everything.
func complaint(err error) string {
	var c *config.Errors
	var h *hinted
	switch {
	case err == nil, errors.Is(err, errQuiet):
		return ""
	case errors.As(err, new(signalError)), errors.Is(err, context.Canceled):
		return ""
	case errors.As(err, &c) && errors.As(err, &h):
		return c.Error() + "\nripple: " + h.hint
	case errors.As(err, &c):
		return c.Error() // names the file in every line
	}
	text := "ripple: " + err.Error()
	if errors.As(err, &h) {
		text += "; " + h.hint
	}
	return strings.TrimSpace(text)
}

// An undecided is why there is no verdict: 1 means that a URL is disallowed.
type undecided struct{ error }

func (u *undecided) Unwrap() error { return u.error }

// noVerdict reports that robots.txt decides nothing for a URL.
func noVerdict(err error) error { return &undecided{err} }
