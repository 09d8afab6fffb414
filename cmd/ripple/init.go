package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sumi-ripple/ripple/schema/config"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

func newInitCommand(a *app) *cobra.Command {
	var origins []string
	cmd := &cobra.Command{
		Use:   "init [FILE]",
		Short: "Write a commented configuration",
		Long: `Write a configuration in which every key is explained, to config.toml unless another
file is named. "ripple crawl" refuses it, key by key, until its placeholders are
replaced; with --origin, only the contact address is left to fill in.
A file that exists is never overwritten; "-" writes to stdout.`,
		Example: "  ripple init\n  ripple init --origin https://example.com/ --origin https://docs.example.org/\n" +
			"  ripple init valley.toml\n  ripple init - | less",
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return runInit(a, origins, args) },
	}
	cmd.Flags().StringArrayVar(&origins, "origin", nil, "crawl the whole site of `URL`, beginning there (repeatable)")
	return cmd
}

func runInit(a *app, urls, args []string) error {
	path := defaultConfig
	if len(args) > 0 {
		path = args[0]
	}
	origins, err := originsOf(urls)
	if err != nil {
		return err
	}
	if path == "-" {
		_, err := io.WriteString(a.stdout, config.Sample(origins...))
		return err
	}
	if err := writeNew(path, config.Sample(origins...)); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return usage("%s exists and is left as it is; name another file: ripple init FILE", shown(path))
		}
		return fmt.Errorf("write the configuration: %w", err)
	}
	text := fmt.Sprintf("%s is written. Replace what says REPLACE-ME, then look before you walk:\n"+
		"  ripple crawl %[1]s --dry-run", shown(path))
	a.voice.tell(remark{text, "configuration written", []any{"path", path}})
	return nil
}

// originsOf makes an origin of the host of each URL, with the URLs as seeds; of a pattern, the
// host that it is of.
func originsOf(urls []string) (origins []config.Origin, err error) {
	rules, err := weburl.NewRules(weburl.DefaultStripParams(), weburl.DefaultMaxLength)
	if err != nil {
		return nil, err
	}
	for _, raw := range urls {
		u, err := parseURL(rules, raw)
		if err != nil {
			return nil, err
		}
		domain := u.Host()
		if i := strings.LastIndexByte(domain, ':'); i >= 0 && !strings.HasSuffix(domain, "]") {
			domain = domain[:i]
		}
		i := slices.IndexFunc(origins, func(o config.Origin) bool { return o.Domain == domain })
		if i < 0 {
			i = len(origins)
			origins = append(origins, config.Origin{Domain: domain})
		}
		seed := strings.Replace(u.Form, "://*.", "://", 1)
		if !slices.Contains(origins[i].Seeds, seed) {
			origins[i].Seeds = append(origins[i].Seeds, seed)
		}
	}
	return origins, nil
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
