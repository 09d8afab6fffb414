package output

import (
	"errors"
	"fmt"
	"os"

	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/export/atomicfile"
)

// A foreignError is a target that exists and that Ripple did not write, or not in this format.
type foreignError struct {
	what string // message: "notes.txt exists and was not written by Ripple"
	kind string // wanted kind: "file" or "folder"
	not  bool   // it is of another kind, and cannot be replaced even with --force
}

func (e *foreignError) Error() string {
	if e.not {
		return e.what + "; name a " + e.kind
	}
	return e.what + "; move it away or name another " + e.kind
}

// named returns the error for a target on the command line, which --force may replace.
func (e *foreignError) named() string {
	if e.not {
		return e.Error()
	}
	return e.what + "; name another " + e.kind + ", or use --force"
}

// foreign describes a target that a check refused with [atomicfile.ErrForeign].
func (f *Format) foreign(path string, err error) *foreignError {
	info, at := os.Stat(path)
	is := "neither a file nor a folder"
	switch {
	case at == nil && info.IsDir():
		is = "a folder"
	case at == nil && info.Mode().IsRegular():
		is = "a file"
	}
	switch {
	case errors.Is(err, atomicfile.ErrNotFile):
		return &foreignError{what: term.Shown(path) + " is " + is, kind: "file", not: true}
	case errors.Is(err, atomicfile.ErrNotFolder):
		return &foreignError{what: term.Shown(path) + " is " + is, kind: "folder", not: true}
	}
	e := &foreignError{what: term.Shown(path) + " exists and was not written by Ripple", kind: "file"}
	if at == nil && info.IsDir() {
		e.kind = "folder"
	}
	if other := new(atomicfile.OtherError); errors.As(err, &other) {
		e.what = fmt.Sprintf("%s holds %s, which was not written by Ripple", term.Shown(path), term.Shown(other.Name))
	}
	if f.Noun != "" && isOtherFormat(path) {
		e.what = fmt.Sprintf("%s is not %s that Ripple wrote", term.Shown(path), f.Noun)
	}
	return e
}

// isOtherFormat reports whether Ripple wrote a target in some format, or as a state file.
func isOtherFormat(path string) bool {
	for _, other := range append(Formats(), ChangesFormat()) {
		if other.Check(path, false) == nil {
			return true
		}
	}
	return statefile.IsBolt(path)
}
