package term

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/render"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/merge"
	"github.com/sumi-ripple/ripple/kv/split"
	"github.com/sumi-ripple/ripple/schema/config"
)

// A UsageError reports a wrong use of the command line.
type UsageError struct{ text string }

func (e *UsageError) Error() string { return e.text }

// Usage returns a [UsageError].
func Usage(format string, args ...any) error { return &UsageError{fmt.Sprintf(format, args...)} }

// ErrQuiet ends a command with exit code 1 and prints nothing: its output has said everything.
var ErrQuiet = errors.New("said")

// An unfinished error reports that a check could not be completed.
type unfinished struct{ error }

func (u *unfinished) Unwrap() error { return u.error }

// Unfinished marks an error that keeps a check from its end. It ends the program with exit code 3.
func Unfinished(err error) error { return &unfinished{err} }

// IsUnfinished reports whether an error was marked by [Unfinished].
func IsUnfinished(err error) bool { return errors.As(err, new(*unfinished)) }

// A Hinted error carries advice: what the user can do about it.
type Hinted struct {
	error
	Hint string
}

func (h *Hinted) Unwrap() error { return h.error }

// Hint adds advice to an error.
func Hint(err error, format string, args ...any) error {
	return &Hinted{err, fmt.Sprintf(format, args...)}
}

// IsUserError reports whether the user has to change the command line or the configuration, or got no verdict. Such an
// error ends the program with exit code 2.
func IsUserError(err error) bool {
	var u *UsageError
	var c *config.Errors
	var f *configError
	var r *undecided
	return errors.As(err, &u) || errors.As(err, &c) || errors.As(err, &f) || errors.As(err, &r) ||
		errors.Is(err, crawl.ErrIdentity) || errors.Is(err, render.ErrNoBrowser) ||
		errors.Is(err, render.ErrNoSandbox) ||
		errors.Is(err, kv.ErrForeign) || errors.Is(err, kv.ErrMemory) || errors.Is(err, merge.ErrShards) ||
		errors.Is(err, crawl.ErrPart) || errors.Is(err, split.ErrSplit)
}

// A configError reports that a valid configuration cannot be used here.
type configError struct{ error }

func (e *configError) Unwrap() error { return e.error }

// WrongConfig marks an error as one of the configuration.
func WrongConfig(err error) error { return &configError{err} }

// Complaint returns the last message of a failed command. It is empty if the output has said everything.
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

// An undecided reports that there is no verdict on a URL. Exit code 1 would mean that robots.txt disallows it.
type undecided struct{ error }

func (u *undecided) Unwrap() error { return u.error }

// NoVerdict marks an error that keeps robots.txt from deciding about a URL.
func NoVerdict(err error) error { return &undecided{err} }
