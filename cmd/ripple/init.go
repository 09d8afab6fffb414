package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/sumi-ripple/ripple/schema/config"
)

func newInitCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "init [FILE]",
		Short: "Write a commented configuration",
		Long: `Write a configuration with every key explained, config.toml unless another
file is named. It is refused, key by key, until its placeholders are replaced.
A file that exists is never overwritten; "-" writes to stdout.`,
		Example: "  ripple init\n  ripple init valley.toml\n  ripple init - | less",
		Args:    cobra.MaximumNArgs(1),
		RunE:    func(_ *cobra.Command, args []string) error { return runInit(a, args) },
	}
}

func runInit(a *app, args []string) error {
	path := "config.toml"
	if len(args) > 0 {
		path = args[0]
	}
	if path == "-" {
		_, err := io.WriteString(a.stdout, config.Sample())
		return err
	}
	if err := writeNew(path, config.Sample()); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return usage("%s exists and is left as it is; name another file: ripple init FILE", shown(path))
		}
		return fmt.Errorf("write the configuration: %w", err)
	}
	text := fmt.Sprintf("%s is written. Replace what says REPLACE-ME, then look before you walk:\n"+
		"  ripple crawl %[1]s --dry-run", shown(path))
	a.tell(remark{text, "configuration written", []any{"path", path}})
	return nil
}

// writeNew writes a file that must not exist; on an error there is none.
func writeNew(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	err = errors.Join(err, f.Sync(), f.Close())
	if err != nil {
		os.Remove(path)
	}
	return err
}
