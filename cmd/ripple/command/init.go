package command

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
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
	cmd.Flags().StringArrayVar(&origins, "origin", nil, "crawl the host of `URL` to the end, beginning there (repeatable)")
	return cmd
}

func runInit(a *app, urls, args []string) error {
	path := statefile.DefaultConfig
	if len(args) > 0 {
		path = args[0]
	}
	text, err := sampleOf(urls)
	if err != nil {
		return err
	}
	if path == "-" {
		_, err := io.WriteString(a.stdout, text)
		return err
	}
	if err := writeNew(path, text); err != nil {
		switch {
		case path == "":
			return term.Usage("the name of the file is empty")
		case errors.Is(err, fs.ErrExist):
			return term.Usage("%s exists and is left as it is; name another file: ripple init FILE", term.Shown(path))
		case errors.Is(err, fs.ErrNotExist):
			err = term.Hint(err, "create the folder %s", term.Shown(filepath.Dir(path)))
		}
		return fmt.Errorf("write the configuration: %w", err)
	}
	written := fmt.Sprintf("%s is written. Replace what says REPLACE-ME, then look before you walk:\n"+
		"  ripple crawl %[1]s --dry-run", term.Shown(path))
	a.Voice.Tell(term.Event("configuration written", written, "path", path))
	return nil
}

// sampleOf returns a sample configuration. If URLs are given, only the contact must be filled in.
// URLs that a crawl would reject are an error.
func sampleOf(urls []string) (string, error) {
	origins, err := originsOf(urls)
	if err != nil {
		return "", err
	}
	text := config.Sample(origins...)
	var refused *config.Errors
	if _, _, err := config.Parse([]byte(text), "", nil); len(urls) == 0 || !errors.As(err, &refused) {
		return text, nil
	}
	for _, p := range refused.List {
		if !strings.HasPrefix(p.Key, "user-agent.contact-") {
			return "", term.Usage("--origin: %s", p.Text)
		}
	}
	return text, nil
}

// originsOf makes an origin of each URL's host, with the URLs as seeds. A pattern gives the host
// that it is for.
func originsOf(urls []string) (origins []config.Origin, err error) {
	rules, err := weburl.NewRules(weburl.DefaultStripParams(), weburl.DefaultMaxLength)
	if err != nil {
		return nil, err
	}
	for _, raw := range urls {
		u, err := answer.ParseURL(rules, raw)
		if err != nil {
			return nil, err
		}
		domain, _ := weburl.SplitPort(u.Host())
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

// writeNew writes a file that must not exist. After an error no file is left.
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
