package statefile

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema/config"
)

// DefaultConfig is the configuration that is used if none is named.
const DefaultConfig = "config.toml"

// A Target says by flags which files a command is about.
type Target struct {
	State  string // --state
	Config string // --config
}

func (n *Target) AddFlags(f *pflag.FlagSet) {
	f.StringVar(&n.State, "state", "",
		"use the state `FILE`, or a folder that holds all shards of a terrain,\nwhich are read as one map")
	f.StringVar(&n.Config, "config", "",
		"use the state file that the configuration `FILE` names (default: ./config.toml,\n"+
			"else the only state file in this folder, with the configuration it was crawled under,\n"+
			"else that of the only configuration in this folder);\n"+
			"with [cluster] hub: the map of all machines, to read it")
}

// StatePath returns the state file that a command is about: the one named, that of the configuration, the only one
// in the folder, or that of the only configuration there.
func (n *Target) StatePath() (string, error) {
	switch {
	case n.State != "" && n.Config != "":
		return "", term.Usage("--state and --config both name a state file; use one of them")
	case n.State != "":
		return n.State, nil
	case n.Config != "":
		return configuredState(n.Config)
	}
	if _, err := os.Stat(DefaultConfig); err == nil {
		return configuredState(DefaultConfig)
	}
	found, unread, err := stateFiles(".")
	switch {
	case err != nil:
		return "", err
	case len(found) == 1:
		return found[0], nil
	case len(found) == 0 && unread != nil:
		return "", term.Hint(fmt.Errorf("there is no config.toml here and no state file that can be read: %w", unread),
			"make it readable, or name another with --state FILE")
	case len(found) == 0:
		name, err := n.usual()
		if err == nil && name == DefaultConfig {
			err = term.Usage("there is no config.toml here and no state file; name one with --state FILE or --config FILE")
		}
		if err != nil {
			return "", err
		}
		return configuredState(name)
	}
	return "", term.Usage("there are several state files here: %s; name one with --state FILE", strings.Join(found, ", "))
}

// StateFile is [Target.StatePath] for a command that takes one file, not a folder of shards.
func (n *Target) StateFile() (string, error) {
	path, err := n.StatePath()
	if err != nil {
		return "", err
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return "", term.Usage("%s is a folder; name the state file of one shard, or the one that "+
			"\"ripple merge %[1]s -o FILE\" makes of all", term.Shown(path))
	}
	return path, nil
}

func configuredState(path string) (string, error) {
	if IsBolt(path) {
		return "", term.Usage("%s is a state file; name it with --state", term.Shown(path))
	}
	cfg, _, err := config.Load(path)
	if err != nil {
		return "", term.Hint(err, "mend the configuration, or name the state file with --state FILE")
	}
	return cfg.State.Path, OfOne(path, cfg)
}

// OfOne returns an error if a configuration is for several machines and so names no state file.
func OfOne(path string, cfg *config.Config) error {
	if cfg.Cluster.Hub == "" {
		return nil
	}
	return term.Usage("%s is for several machines; name with --state a shard's file, "+
		"or the one that \"ripple merge\" makes of all", term.Shown(path))
}

// ConfigPath returns the configuration that a command follows.
func (n *Target) ConfigPath(args []string) (string, error) {
	switch {
	case n.State != "":
		return "", term.Usage("the state file is that of [state] path in the configuration; leave --state out")
	case len(args) > 0 && n.Config != "":
		return "", term.Usage("the configuration is named twice, %s and %s", term.Shown(args[0]), term.Shown(n.Config))
	}
	var path string
	var err error
	if len(args) > 0 {
		path, err = args[0], NotSite(args[0])
	} else if path, err = n.usual(); err != nil {
		return "", err
	}
	if IsBolt(path) {
		return "", term.Usage("%s is a state file; name the configuration that it was crawled under", term.Shown(path))
	}
	return path, err
}

func (n *Target) ConfigOrDefault() string { return cmp.Or(n.Config, DefaultConfig) }

// usual returns the configuration to follow if no argument names one: that of --config, else ./config.toml, else the
// one under which the folder's only state file was last crawled, else the only one in the folder, and if none is valid,
// the only one with mistakes. If there is none, it returns the name of the default.
func (n *Target) usual() (string, error) {
	if n.Config != "" {
		return n.Config, nil
	}
	if _, err := os.Stat(DefaultConfig); err == nil {
		return DefaultConfig, nil
	}
	if found, _, err := stateFiles("."); err == nil && len(found) == 1 {
		if path := lastConfig(found[0]); path != "" {
			return path, nil
		}
	}
	names, err := filepath.Glob("*.toml")
	if err != nil {
		return "", err
	}
	var valid, mistaken []string
	for _, name := range names {
		if _, _, err := config.Load(name); err == nil {
			valid = append(valid, name)
		} else if meantAsConfig(name) {
			mistaken = append(mistaken, name)
		}
	}
	switch {
	case len(valid) == 1:
		return valid[0], nil
	case len(valid) == 0 && len(mistaken) == 1:
		return mistaken[0], nil
	case len(valid) == 0:
		return DefaultConfig, nil
	}
	for i, name := range valid {
		valid[i] = term.Shown(name)
	}
	return "", term.Usage("there are several configurations here: %s; name one", strings.Join(valid, ", "))
}

// meantAsConfig reports whether an invalid file was meant as a configuration: it names one of the tables that each
// configuration has.
func meantAsConfig(name string) bool {
	text, err := os.ReadFile(name)
	return err == nil && (bytes.Contains(text, []byte("[user-agent]")) || bytes.Contains(text, []byte("[[quality]]")))
}

// metaConfig is the name of the value that holds the path of the configuration of the last crawl.
const metaConfig = "configuration file"

// KeepConfig records in a state file under which configuration it is crawled.
func KeepConfig(store *kv.Store, path string) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	if before, err := readConfig(store); err != nil || before == path {
		return err
	}
	return store.Update(func(tx *kv.Tx) error { return tx.Meta.Put(metaConfig, []byte(path)) })
}

func readConfig(store *kv.Store) (path string, err error) {
	err = store.View(func(tx *kv.Tx) error {
		text, err := tx.Meta.Value(metaConfig)
		path = string(text)
		return err
	})
	return path, err
}

// lastConfig returns the configuration under which a state file was last crawled, if that is still there and names the
// file; else an empty string.
func lastConfig(state string) string {
	store, err := kv.Open(state, kv.Options{ReadOnly: true, Timeout: 50 * time.Millisecond})
	if err != nil {
		return ""
	}
	defer store.Close()
	path, err := readConfig(store)
	if err != nil || path == "" {
		return ""
	}
	cfg, _, err := config.Load(path)
	if err != nil {
		return ""
	}
	named, err := os.Stat(cfg.State.Path)
	if here, err2 := os.Stat(state); err != nil || err2 != nil || !os.SameFile(named, here) {
		return ""
	}
	return path
}

// StateConfig returns the configuration that names the state file; empty if none does.
func (n *Target) StateConfig() string {
	if n.Config != "" || n.State != "" {
		return n.Config
	}
	path, err := n.usual()
	if err != nil {
		return ""
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	return path
}

// Terrain returns the configuration of a terrain of several machines; nil if the command is about one state file.
func (n *Target) Terrain() *config.Config {
	if n.State != "" {
		return nil
	}
	cfg, _, err := config.Load(n.ConfigOrDefault())
	if err != nil || cfg.Cluster.Hub == "" {
		return nil // the search for a state file reports what is wrong
	}
	return cfg
}

// NotSite returns an error if name is a URL or the name of a site instead of a configuration.
func NotSite(name string) error {
	site := term.Shown(term.Clean(name, 2048))
	switch _, err := os.Stat(name); {
	case strings.Contains(name, "://"):
		return term.Usage("%s is a URL, not a configuration; to write one that crawls it: ripple init --origin %[1]s", site)
	case !errors.Is(err, fs.ErrNotExist) || filepath.Ext(name) == ".toml" || !strings.Contains(name, "."), inFolder(name):
		return nil
	}
	near := strings.TrimSuffix(name, filepath.Ext(name)) + ".toml"
	if _, err := os.Stat(near); err == nil {
		return term.Usage("there is no file %s; did you mean %s?", site, term.Shown(near))
	}
	return term.Usage("there is no file %s; to write a configuration that crawls the site: "+
		"ripple init --origin https://%[1]s", site)
}

// inFolder reports whether a name is a path, and not a site or a page of one: its first part is a folder, or has no
// dot.
func inFolder(name string) bool {
	first, _, deep := strings.Cut(filepath.ToSlash(name), "/")
	_, err := os.Stat(first)
	return deep && (err == nil || !strings.Contains(strings.Trim(first, "."), "."))
}
