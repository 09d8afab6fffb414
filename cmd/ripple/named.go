package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/schema/config"
)

// defaultConfig is the configuration that is taken where none is named.
const defaultConfig = "config.toml"

// A named is the files that a command is about, as the flags name them.
type named struct {
	state  string // --state
	config string // --config
}

func (n *named) addFlags(f *pflag.FlagSet) {
	f.StringVar(&n.state, "state", "",
		"use the state `FILE`, or a folder that holds all shards of a terrain,\nwhich are read as one map")
	f.StringVar(&n.config, "config", "",
		"use the state file that the configuration `FILE` names (default: ./config.toml,\n"+
			"else the only state file in this folder)")
}

// statePath finds the state file that a command is about: the one named, that of
// the configuration, or the folder's only one.
func (n *named) statePath() (string, error) {
	switch {
	case n.state != "" && n.config != "":
		return "", term.Usage("--state and --config both name a state file; use one of them")
	case n.state != "":
		return n.state, nil
	case n.config != "":
		return configuredState(n.config)
	}
	if _, err := os.Stat(defaultConfig); err == nil {
		return configuredState(defaultConfig)
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
		return "", term.Usage("there is no config.toml here and no state file; name one with --state FILE or --config FILE")
	}
	return "", term.Usage("there are several state files here: %s; name one with --state FILE", strings.Join(found, ", "))
}

// stateFile is statePath for a command that takes one file and no folder of shards.
func (n *named) stateFile() (string, error) {
	path, err := n.statePath()
	if err != nil {
		return "", err
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return "", term.Usage("%s is a folder; name the state file of one shard, or the one that "+
			"\"ripple unite %[1]s -o FILE\" makes of all", term.Shown(path))
	}
	return path, nil
}

func configuredState(path string) (string, error) {
	if isBolt(path) {
		return "", term.Usage("%s is a state file; name it with --state", term.Shown(path))
	}
	cfg, _, err := config.Load(path)
	if err != nil {
		return "", term.Hint(err, "mend the configuration, or name the state file with --state FILE")
	}
	return cfg.State.Path, ofOne(path, cfg)
}

// ofOne refuses a configuration that names no state file, because it is for several machines.
func ofOne(path string, cfg *config.Config) error {
	if cfg.Cluster.Hub == "" {
		return nil
	}
	return term.Usage("%s is for several machines; name with --state a shard's file, "+
		"or the one that \"ripple unite\" makes of all", term.Shown(path))
}

// configPath is the configuration that a command follows.
func (n *named) configPath(args []string) (string, error) {
	switch {
	case n.state != "":
		return "", term.Usage("the state file is that of [state] path in the configuration; leave --state out")
	case len(args) > 0 && n.config != "":
		return "", term.Usage("the configuration is named twice, %s and %s", term.Shown(args[0]), term.Shown(n.config))
	}
	path, err := n.configOrDefault(), error(nil)
	if len(args) > 0 {
		path, err = args[0], notSite(args[0])
	}
	if isBolt(path) {
		return "", term.Usage("%s is a state file; name the configuration that it was crawled under", term.Shown(path))
	}
	return path, err
}

func (n *named) configOrDefault() string { return cmp.Or(n.config, defaultConfig) }

// stateConfig is the configuration that names the state file; empty: none does.
func (n *named) stateConfig() string {
	if n.config != "" || n.state != "" {
		return n.config
	}
	if _, err := os.Stat(defaultConfig); errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	return defaultConfig
}

// terrain is the configuration of the terrain of several machines that a command is about;
// nil: it is about one state file.
func (n *named) terrain() *config.Config {
	if n.state != "" {
		return nil
	}
	cfg, _, err := config.Load(n.configOrDefault())
	if err != nil || cfg.Cluster.Hub == "" {
		return nil // what is wrong with it, the search for a state file says
	}
	return cfg
}

// notSite refuses what is no name of a configuration, but a URL or the name of a site.
func notSite(name string) error {
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

// inFolder reports whether a name is a path, and not that of a site or of a page there: what it begins with is a
// folder, or has no dot in it.
func inFolder(name string) bool {
	first, _, deep := strings.Cut(filepath.ToSlash(name), "/")
	_, err := os.Stat(first)
	return deep && (err == nil || !strings.Contains(strings.Trim(first, "."), "."))
}
