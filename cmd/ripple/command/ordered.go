package command

import (
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/sumi-ripple/ripple/cmd/ripple/desk"
	"github.com/sumi-ripple/ripple/cmd/ripple/output"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
)

// newOrderedCommand returns the command that runs an order of a desk. It is not meant for people.
func newOrderedCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:    "ordered",
		Hidden: true,
		Args:   cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains([]string{"export", "summary", "decide"}, args[0]) {
				return term.Usage("use \"ripple export\"")
			}
			desk.EndWithInput()
			p := a.Program
			p.Stdout, p.Stderr = a.stdout, a.Voice.Stderr
			ordered := newApp(p)
			if args[0] != "decide" { // its output is needed
				ordered.Voice.Reports = func(r term.Reached) { desk.Report(a.stdout, r.Step, r.Done, r.Total) }
			}
			err := ordered.execute(cmd.Context(), args)
			if left := new(output.UnreadError); errors.As(err, &left) { // the other outputs are written
				desk.ReportLack(a.stdout, left.Error())
				return nil
			}
			return err
		},
	}
}
