package main

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sumi-ripple/ripple/cmd/ripple/desk"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
)

// deskExports are the exports that can be ordered at a desk of a state file.
func deskExports(path string) *desk.Exports {
	var offers []desk.Format
	for _, f := range formats() {
		if f.offer.Name != "" {
			offers = append(offers, f.offer)
		}
	}
	return &desk.Exports{
		Formats: offers,
		Command: func(o desk.Order, target string) (*exec.Cmd, error) {
			return ordered(exportArgs(o, path, target)...)
		},
	}
}

// exportArgs are how the command line orders the same.
func exportArgs(o desk.Order, path, target string) []string {
	args := []string{"export", "--quiet", "--state", path, "--" + o.Format, target}
	if o.Format == "summary" {
		args = []string{"summary", "--quiet", "--state", path, "--out", target}
	}
	for flag, value := range map[string]string{
		"--level": o.Level, "--run": o.Run, "--without": strings.Join(o.Without, ","),
		"--only": strings.Join(o.Only, ","),
	} {
		if value != "" {
			args = append(args, flag+"="+value)
		}
	}
	if o.MinWeight > 0 {
		args = append(args, "--min-weight", strconv.Itoa(o.MinWeight))
	}
	return args
}

// newOrderedCommand is a command that was ordered at a desk. It is not meant for people.
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
			ordered := newApp(a.stdout, a.voice.Stderr)
			if args[0] != "decide" { // of which the output is wanted
				ordered.voice.Reports = func(r term.Reached) { desk.Report(a.stdout, r.Step, r.Done, r.Total) }
			}
			err := ordered.execute(cmd.Context(), args)
			if left := new(unreadError); errors.As(err, &left) { // the others are written
				desk.ReportLack(a.stdout, left.Error())
				return nil
			}
			return err
		},
	}
}

// ordered makes the process of a command that was ordered at a desk.
func ordered(args ...string) (*exec.Cmd, error) {
	self, err := term.ThisProgram()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, append([]string{"ordered", "--"}, args...)...)
	cmd.Args[0] = os.Args[0]
	return cmd, nil
}
