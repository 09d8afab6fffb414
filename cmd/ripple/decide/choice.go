package decide

import (
	"errors"
	"io/fs"
	"slices"

	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/schema/config"
	"github.com/sumi-ripple/ripple/schema/decision"
	"github.com/sumi-ripple/ripple/schema/scope"
)

// Parse reads the arguments.
func Parse(name, class string) (scope.Pattern, config.DecidedClass, error) {
	host, _, err := config.ParseDecidedHost(name)
	switch {
	case err != nil:
		return host, "", term.Usage("%v", err)
	case !slices.Contains(config.DecidedClasses(), config.DecidedClass(class)):
		return host, "", term.Usage("%s is not one of quality, blacklist, stub, later", term.Shown(term.Clean(class, 40)))
	}
	return host, config.DecidedClass(class), nil
}

// A Choice is a decision about a host. Values that are not given stay as they are in the entry.
type Choice struct {
	Seeds []string
	Tags  []string
	Note  string
	Given map[string]bool // names of the flags that were given
}

// Edit returns a function that applies the choice to an entry.
func (o *Choice) Edit(host scope.Pattern, class config.DecidedClass) decision.Edit {
	return func(before *config.Decision) config.Decision {
		d := config.Decision{}
		if before != nil {
			d = *before
		}
		d.Host, d.Class = host, class
		if o.Given["seed"] {
			d.Seeds = WithoutEmpty(o.Seeds)
		}
		if class != config.DecidedQuality {
			d.Seeds = nil
		}
		if o.Given["tag"] {
			d.Tags = WithoutEmpty(o.Tags)
		}
		if o.Given["note"] {
			d.Note = o.Note
		}
		return d
	}
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
