package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/sumi-ripple/ripple/schema/amount"
	"github.com/sumi-ripple/ripple/schema/disk"
	"github.com/sumi-ripple/ripple/schema/scope"
)

// Limits on input, in bytes.
const (
	maxFile = 4 << 20  // the configuration
	maxList = 64 << 20 // a list file or a file of trust anchors
)

// Load reads a configuration file and its list files. Violated rules are returned as [*Errors] with the
// path as given.
func Load(path string) (*Config, []Notice, error) {
	text, err := readFile(path, maxFile)
	if err == nil {
		var dir string
		if dir, err = filepath.Abs(filepath.Dir(path)); err == nil {
			return parse(path, text, dir, readList)
		}
	}
	reason := err.Error()
	if errors.Is(err, fs.ErrNotExist) {
		reason = "no such file; \"ripple init " + clean(path) + "\" writes one"
	}
	return nil, nil, &Errors{Path: path, List: []Problem{{Text: reason}}, cause: err}
}

// LoadWith is like [Load], but uses texts, by absolute path, in place of the files there.
func LoadWith(path string, texts map[string][]byte) (*Config, []Notice, error) {
	text, err := readFile(path, maxFile)
	if err != nil {
		return Load(path) // reports why
	}
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return nil, nil, err
	}
	return parse(path, text, dir, func(path string) ([]byte, error) {
		if text, ok := texts[path]; ok {
			return text, nil
		}
		return readList(path)
	})
}

// Parse parses a configuration for the folder dir. It reads list files with read; their paths are
// absolute if dir is. Problems are reported for "config.toml".
func Parse(text []byte, dir string, read func(path string) ([]byte, error)) (*Config, []Notice, error) {
	return parse("config.toml", text, dir, read)
}

// ParseEffective parses a text from Effective. It opens no file.
func ParseEffective(text []byte) (*Config, error) {
	r := &reader{stored: true, errs: &Errors{Path: "effective configuration"}}
	c := r.decode(text)
	if c != nil {
		r.check(c)
	}
	if err := r.errs.orNil(); err != nil {
		return nil, err
	}
	return c, nil
}

func parse(path string, text []byte, dir string, read func(string) ([]byte, error)) (*Config, []Notice, error) {
	r := &reader{errs: &Errors{Path: path}}
	if len(text) > maxFile {
		r.errs.add(Problem{Text: tooLarge(maxFile)})
		return nil, nil, r.errs
	}
	c := r.decode(bytes.TrimPrefix(text, []byte("\ufeff")))
	if c != nil {
		c.resolve(dir)
		r.readFiles(c, read)
		r.check(c)
	}
	if err := r.errs.orNil(); err != nil {
		return nil, r.notices, err
	}
	return c, r.notices, nil
}

// resolve makes all paths absolute.
func (c *Config) resolve(dir string) {
	for _, p := range c.paths() {
		if *p != "" && !filepath.IsAbs(*p) {
			*p = filepath.Join(dir, *p)
		}
	}
}

// paths returns pointers to the paths of all files and folders.
func (c *Config) paths() []*string {
	paths := []*string{
		&c.State.Path, &c.Pages.Path, &c.Network.CAFile,
		&c.Output.DatabasePath, &c.Output.SummaryPath, &c.Output.GraphPath, &c.Output.MapPath,
		&c.Monitor.WebhookSecretFile, &c.Monitor.MetricsCSV, &c.Monitor.ReportPath,
		&c.Monitor.TokenFile, &c.Monitor.CertFile, &c.Monitor.KeyFile, &c.Decisions.File, &c.Render.Browser,
		&c.Cluster.Folder, &c.Cluster.Credentials, &c.Cluster.CAFile,
	}
	for _, lists := range [][]List{c.Blacklist, c.Stub} {
		for i := range lists {
			paths = append(paths, &lists[i].File)
		}
	}
	return paths
}

// readFiles reads the files that the configuration names.
func (r *reader) readFiles(c *Config, read func(string) ([]byte, error)) {
	r.readLists("blacklist", c.Blacklist, read)
	r.readLists("stub", c.Stub, read)
	r.readDecisions(c, read)
	r.readKey("network.ca-file", c.Network.CAFile, read, checkAnchors)
	r.readKey("cluster.ca-file", c.Cluster.CAFile, read, checkAnchors)
	r.readKey("monitor.webhook-secret-file", c.Monitor.WebhookSecretFile, read, func(text []byte) error {
		_, err := WebhookSecrets(text)
		return cmp.Or(disk.Secret(c.Monitor.WebhookSecretFile), err)
	})
	if c.Monitor.Webhook != "" && c.Monitor.WebhookSecretFile == "" {
		r.problem("monitor.webhook", "[monitor] webhook needs webhook-secret-file, which signs what is sent there")
	}
}

// readKey checks the contents of the file that a key names, if any.
func (r *reader) readKey(at, path string, read func(string) ([]byte, error), check func([]byte) error) {
	if path == "" {
		return
	}
	text, err := read(path)
	if err == nil {
		err = check(text)
	}
	if err != nil {
		table, key, _ := strings.Cut(at, ".")
		r.problem(at, fmt.Sprintf("[%s] %s: %s %s", table, key, quote(path), fileReason(err)))
	}
}

func (r *reader) readLists(name string, lists []List, read func(string) ([]byte, error)) {
	for i := range lists {
		l, path := &lists[i], entryPath(name, i)
		switch {
		case l.Preset != "":
			patterns, err := scope.Preset(l.Preset)
			if err != nil {
				r.problem(path+".preset", fmt.Sprintf("[[%s]] %v", name, err))
			}
			l.Names = sorted(patterns)
		case l.File != "":
			if err := r.readList(l, path+".file", read); err != nil {
				r.problem(path+".file", fmt.Sprintf("[[%s]] file: %s %s", name, quote(l.File), fileReason(err)))
			}
		}
	}
}

func (r *reader) readList(l *List, path string, read func(string) ([]byte, error)) error {
	text, err := read(l.File)
	if err != nil {
		return err
	}
	patterns, skipped, err := scope.ParseListFile(bytes.NewReader(text))
	if err != nil {
		return err
	}
	l.Names = sorted(patterns)
	if skipped > 0 {
		lines := amount.Of(skipped, "line is not a name and was skipped", "lines are not names and were skipped")
		r.notice(path, quote(l.File)+": "+lines)
	}
	if len(patterns) == 0 {
		r.notice(path, fmt.Sprintf("%s contains no names", quote(l.File)))
	}
	return nil
}

func readList(path string) ([]byte, error) { return readFile(path, maxList) }

var errFolder = errors.New("is a folder, not a file")

// readFile reads a file of at most limit bytes.
func readFile(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.IsDir() {
		return nil, errors.Join(err, errFolder)
	}
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(text)) > limit {
		err = errors.New(tooLarge(limit))
	}
	return text, err
}

func tooLarge(limit int64) string {
	return fmt.Sprintf("is larger than %d MiB; "+
		"long lists of names belong in a list file, seeds in \"ripple crawl --seeds FILE\"", limit>>20)
}

func isMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// fileReason says why a file could not be used, without its path.
func fileReason(err error) string {
	var at *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "does not exist"
	case errors.Is(err, errFolder):
		return errFolder.Error()
	case errors.As(err, &at):
		return "cannot be read: " + at.Err.Error()
	}
	return err.Error()
}
