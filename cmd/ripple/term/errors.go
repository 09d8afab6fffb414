package term

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

// A UsageError is a wrong use of the command line.
type UsageError struct{ text string }

func (e *UsageError) Error() string { return e.text }

func Usage(format string, args ...any) error { return &UsageError{fmt.Sprintf(format, args...)} }

// ErrQuiet ends a command with 1 whose output has said everything.
var ErrQuiet = errors.New("said")

// A Hinted error says what can be done about it.
type Hinted struct {
	error
	Hint string
}

func (h *Hinted) Unwrap() error { return h.error }

func Hint(err error, format string, args ...any) error {
	return &Hinted{err, fmt.Sprintf(format, args...)}
}

// Mendable reports whether whoever called has to write something else, the
// command line or the configuration, or got no verdict.
func Mendable(err error) bool {
	var u *UsageError
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

func Unfollowed(err error) error { return &configError{err} }

// Complaint is the last thing that a failed command says; empty if it has said
// everything.
func Complaint(err error) string {
	var c *config.Errors
	var h *Hinted
	switch {
	case err == nil, errors.Is(err, ErrQuiet):
		return ""
	case errors.As(err, new(SignalError)), errors.Is(err, context.Canceled):
		return ""
	case errors.As(err, &c) && errors.As(err, &h):
		return c.Error() + "\nripple: " + h.Hint
	case errors.As(err, &c):
		return c.Error() // names the file in every line
	}
	text := "ripple: " + err.Error()
	if errors.As(err, &h) {
		text += "; " + h.Hint
	}
	return strings.TrimSpace(text)
}

// An undecided is why there is no verdict: 1 means that a URL is disallowed.
type undecided struct{ error }

func (u *undecided) Unwrap() error { return u.error }

// NoVerdict reports that robots.txt decides nothing for a URL.
func NoVerdict(err error) error { return &undecided{err} }
