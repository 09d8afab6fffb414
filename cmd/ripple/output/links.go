package output

import (
	"cmp"

	"github.com/spf13/pflag"

	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/export"
)

// A LinksOption names the links that count.
type LinksOption string

// AddFlag adds the flag. what says what the links are used for.
func (o *LinksOption) AddFlag(f *pflag.FlagSet, what string) {
	f.StringVar((*string)(o), "links", export.Endorsements.String(),
		what+", `text|all`: links in the text of pages to other hosts or, if origins are of several sites, to other sites; "+
			"or all")
}

// Parse reads the flag.
func (o LinksOption) Parse() (export.Counted, error) {
	counted, err := export.ParseCounted(cmp.Or(string(o), export.Endorsements.String()))
	if err != nil {
		return counted, term.Usage("--links: %v", err)
	}
	return counted, nil
}
