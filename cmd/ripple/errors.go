package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
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

// stateError says what to do about a state file that does not open.
func stateError(path string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, kv.ErrLocked):
		return hint(err, "wait for it, or end it with: ripple stop --state %s", shown(path))
	case errors.Is(err, kv.ErrForeign):
		return hint(err, "name another file with --state or [state] path")
	case errors.Is(err, kv.ErrFormat):
		return hint(err, "\"ripple crawl --fresh\" keeps the file as a backup")
	case errors.Is(err, kv.ErrDamaged):
		return hint(err, "\"ripple crawl --fresh\" keeps it as a backup and begins anew")
	case errors.Is(err, kv.ErrLost):
		return hint(err, "put the file back, or a backup of it, before the next crawl, "+
			"which would otherwise begin anew")
	case errors.Is(err, fs.ErrPermission):
		return hint(err, "ripple needs to read and write the file, and the folder that it is in")
	case errors.Is(err, fs.ErrNotExist):
		return hint(err, "check the path")
	}
	return err
}

// unreadable reports that a state file can only be kept as a backup.
func unreadable(err error) bool { return errors.Is(err, kv.ErrDamaged) || errors.Is(err, kv.ErrFormat) }

// storeFailed reports an error that must be told even to whoever has just ended
// the command.
func storeFailed(err error) bool {
	return errors.Is(err, kv.ErrLost) || errors.Is(err, kv.ErrCommit) || errors.Is(err, kv.ErrDamaged)
}
