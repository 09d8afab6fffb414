package decide

import (
	"encoding/json"
	"errors"
	"io/fs"
	"slices"

	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/schema/config"
	"github.com/sumi-ripple/ripple/schema/decision"
	"github.com/sumi-ripple/ripple/schema/scope"
)

// Limits on decisions that are made together: their number, and the size of their text in bytes.
const (
	Most     = 1000
	MostText = 4 << 20
)

// Parse reads the arguments.
func Parse(name, class string) (scope.Pattern, config.DecidedClass, error) {
	host, _, err := config.ParseDecidedHost(name)
	switch {
	case err != nil:
		return host, "", term.Usage("%v", err)
	case class != string(config.DecidedNone) &&
		!slices.Contains(config.DecidedClasses(), config.DecidedClass(class)):
		return host, "", term.Usage("%s is not one of quality, blacklist, stub, later, none",
			term.Shown(term.Clean(class, 40)))
	}
	return host, config.DecidedClass(class), nil
}

// Read reads decisions that are to be made together, written as [[decision]] entries. name is that of their file.
func Read(name string, text []byte) ([]config.DecisionEdit, error) {
	edits, err := config.ParseDecisionEdits(name, text)
	switch {
	case err != nil:
		return nil, term.WrongConfig(err)
	case len(edits) == 0:
		return nil, term.Usage("%s has no [[decision]] entry", term.Shown(name))
	case len(edits) > Most:
		return nil, term.Usage("%s has %d decisions; at most %d are made together", term.Shown(name), len(edits), Most)
	}
	return edits, nil
}

// ReadUndo reads the result of decisions, as JSON, and returns what undoes them: the edits that restore the entries
// before, the patch that restores the file, and the version that the file must have.
func ReadUndo(name string, text []byte) ([]config.DecisionEdit, *decision.Patch, string, error) {
	var done Result
	if err := json.Unmarshal(text, &done); err != nil {
		return nil, nil, "", term.Usage("%s is not what \"ripple decide --json\" printed: %v", term.Shown(name), err)
	}
	if done.Undo == nil || done.Version == "" || len(done.Before) == 0 {
		return nil, nil, "", term.Usage("%s has no decision that was written", term.Shown(name))
	}
	edits := make([]config.DecisionEdit, len(done.Before))
	for i, was := range done.Before {
		host, class, err := Parse(was.Host, was.Class)
		if err != nil {
			return nil, nil, "", err
		}
		edits[i] = config.DecisionEdit{
			Decision: config.Decision{Host: host, Class: class, Seeds: was.Seeds, Tags: was.Tags, Note: was.Note},
			Given:    map[string]bool{"seeds": true, "tags": true, "note": true},
		}
	}
	return edits, done.Undo, done.Version, nil
}

// changes returns edits as changes of the file.
func changes(edits []config.DecisionEdit) []decision.Change {
	all := make([]decision.Change, len(edits))
	for i, e := range edits {
		all[i] = decision.Change{Host: e.Host, Edit: e.Apply}
	}
	return all
}

// WithoutEmpty returns the non-empty texts.
func WithoutEmpty(all []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return s == "" })
}

// decideError adds advice to an error about a file of decisions that cannot be changed. path is the
// configuration that names the file.
func decideError(path string, err error) error {
	switch {
	case errors.Is(err, decision.ErrForeign):
		return term.Hint(term.WrongConfig(err), "change it there, and then: ripple reclassify %s", term.Shown(path))
	case errors.Is(err, decision.ErrChanged):
		return term.Hint(err, "nothing was written; try again")
	case errors.Is(err, fs.ErrPermission):
		return term.Hint(err, "ripple needs to write the file, and the folder that it is in")
	}
	return err
}
