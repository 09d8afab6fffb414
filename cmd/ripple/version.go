package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/sumi-ripple/ripple/cmd/ripple/term"
)

type versionOptions struct{ json bool }

func newVersionCommand(a *app) *cobra.Command {
	var opts versionOptions
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  ripple version\n  ripple version --json",
		Args:    cobra.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return runVersion(opts, a.stdout) },
	}
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON")
	return cmd
}

// A build says which program this is.
type build struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	Time    string `json:"time,omitempty"`
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
}

func thisBuild() build {
	b := build{Version: "(devel)", Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if info.Main.Version != "" {
		b.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Time = s.Value
		}
	}
	return b
}

func runVersion(opts versionOptions, out io.Writer) error {
	b := thisBuild()
	if opts.json {
		return term.PrintJSON(out, b)
	}
	_, err := fmt.Fprintf(out, "ripple %s (%s, %s/%s)\n", b.Version, b.Go, b.OS, b.Arch)
	return err
}
