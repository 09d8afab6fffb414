package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/census"
	"github.com/sumi-ripple/ripple/crawl/control"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema/config"
	"github.com/sumi-ripple/ripple/schema/decision"
	"github.com/sumi-ripple/ripple/schema/scope"
)

// A decided is what became of a decision, as a program reads it.
type decided struct {
	Host  string   `json:"host"`
	Class string   `json:"class"`
	Seeds []string `json:"seeds"`
	Tags  []string `json:"tags"`
	Note  string   `json:"note"`
	TOML  string   `json:"toml"` // the entry

	Path    string   `json:"path"`    // of the file of decisions; empty: there is none
	Version string   `json:"version"` // of that file, as a dry run saw it
	Written bool     `json:"written"`
	Applied string   `json:"applied"` // reload: by the crawl that runs; reclassify; empty: not
	Why     string   `json:"reason"`  // why nothing was written, or nothing changes
	Change  *changed `json:"change"`  // null: what it is was not looked at
}

// A changed is a reclassified with some of the pages that turned.
type changed struct {
	reclassified
	Turned []turnPage `json:"turned_pages"` // the first of those with another class or state
	More   int        `json:"turned_more"`  // so many further ones
}

// A decider decides on a host under a configuration, for a person or a program. It tells
// a person what it does as it goes; the result is for a program.
type decider struct {
	app    *app
	json   bool
	path   string         // of the configuration
	cfg    *config.Config // nil: there is none
	host   scope.Pattern
	edit   decision.Edit
	result decided
}

// entered notes an entry in the result.
func (d *decider) entered(e config.Decision) {
	d.result.Host, d.result.Class, d.result.Note, d.result.TOML = d.host.String(), string(e.Class), e.Note, e.TOML()
	d.result.Seeds, d.result.Tags = append([]string{}, e.Seeds...), append([]string{}, e.Tags...)
}

// because notes why nothing comes of it, and says so.
func (d *decider) because(why string) {
	d.result.Why = why
	d.app.voice.Say(why)
}

// print prints for a person alone.
func (d *decider) print(text string) error {
	if d.json {
		return nil
	}
	return term.Flushed(d.app.stdout, func(w io.Writer) error { fmt.Fprint(w, text); return nil })
}

// show shows an entry that no file can take.
func (d *decider) show() error {
	e := d.edit(nil)
	if err := e.Check(); err != nil {
		return decideError(d.path, err)
	}
	d.entered(e)
	if d.cfg == nil {
		d.because(fmt.Sprintf("nothing is written: there is no %s; name one with --config", term.Shown(d.path)))
	} else {
		d.because(fmt.Sprintf("nothing is written: %s names no [decisions] file", term.Shown(d.path)))
	}
	return d.print(e.TOML())
}

// foresee is the configuration with the entry as it would be.
func (d *decider) foresee() (*config.Config, error) {
	file := d.cfg.Decisions.File
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err != nil {
		return nil, err
	}
	d.result.Path, d.result.Version = file, decision.Version(text)
	text, e, err := decision.Apply(file, text, d.host, d.edit)
	if err != nil {
		return nil, err
	}
	d.entered(e)
	next, _, err := config.LoadWith(d.path, map[string][]byte{file: text})
	return next, err
}

// foretell shows an entry, and what it would change in the map.
func (d *decider) foretell(ctx context.Context) error {
	next, err := d.foresee()
	if err != nil {
		return decideError(d.path, err)
	}
	if err := mayReclassify(next); err != nil {
		return err
	}
	if err := d.print(d.result.TOML + "\n"); err != nil {
		return err
	}
	if next.Cluster.Hub != "" {
		d.because("it would change what all machines have; to see how, " +
			"try it on the map that \"ripple merge\" makes of their files")
		return nil
	}
	if _, err := os.Stat(next.State.Path); errors.Is(err, fs.ErrNotExist) {
		d.because("nothing has been crawled yet: nothing would change")
		return nil
	}
	copied, remove, err := d.app.states.WorkingCopy(ctx, next.State.Path)
	if err != nil {
		return err
	}
	defer remove()
	return d.reclassify(copied, next, true)
}

// write writes an entry, into the file as it was seen, and has it hold.
func (d *decider) write(ctx context.Context, seen string) error {
	next, err := d.foresee() // or it would be written, and then refused
	if err != nil {
		return decideError(d.path, err)
	}
	if err := mayReclassify(next); err != nil {
		return term.Hint(err, "nothing was written")
	}
	e, err := decision.Write(d.result.Path, d.host, seen, d.edit)
	if err != nil {
		return decideError(d.path, err)
	}
	d.entered(e)
	d.result.Written, d.result.Version = true, ""
	d.app.voice.Tell(term.Event("decided", fmt.Sprintf("%s is decided: %s, in %s", d.host, e.Class,
		term.Shown(d.result.Path)), "host", d.host.String(), "class", string(e.Class), "path", d.result.Path))
	return d.apply(ctx, next)
}

// mayReclassify reports a state file that cannot follow another configuration: it holds a part of a terrain,
// or tells pages apart by other rules. Of one that cannot be read now, as of one that is being crawled, applying
// it tells more.
func mayReclassify(cfg *config.Config) error {
	if cfg.Cluster.Hub != "" { // nothing is reclassified here
		return nil
	}
	store, err := kv.Open(cfg.State.Path, kv.Options{ReadOnly: true, Timeout: 50 * time.Millisecond})
	if err != nil {
		return nil
	}
	defer store.Close()
	_, err = crawl.Foresee(store, cfg)
	return err
}

// apply has a decision hold in the map: by the crawl that runs, or as reclassify does. On several
// machines that is not for one of them.
func (d *decider) apply(ctx context.Context, cfg *config.Config) error {
	if cfg.Cluster.Hub != "" {
		d.because("this machine has it; when all have, \"ripple reload\" has the terrain follow it")
		return nil
	}
	var st census.Status
	err := d.app.states.CrawlOf(cfg.State.Path).Post(ctx, "reload", &st)
	switch {
	case err == nil:
		d.result.Applied = "reload"
		d.app.voice.Say("the running crawl follows it from now on")
		return nil
	case !errors.Is(err, control.ErrNobody):
		return term.Hint(err, "the decision is written; %q applies it", "ripple reload")
	}
	if _, err := os.Stat(cfg.State.Path); errors.Is(err, fs.ErrNotExist) {
		d.because("nothing has been crawled yet: the first crawl follows it")
		return nil
	}
	if err := d.reclassify(cfg.State.Path, cfg, false); err != nil {
		return term.Hint(err, "the decision is written; apply it with: ripple reclassify %s", term.Shown(d.path))
	}
	d.result.Applied = "reclassify"
	return nil
}

// reclassify applies a configuration to a state file, and tells what changes.
func (d *decider) reclassify(state string, cfg *config.Config, dry bool) error {
	return reclassify(state, cfg, func(store *kv.Store, change *reclassified) error {
		if !d.json {
			return term.Flushed(d.app.stdout, func(w io.Writer) error { return change.print(w, store, dry) })
		}
		more := max(0, len(change.turned)-maxTurned)
		d.result.Change = &changed{reclassified: *change, Turned: []turnPage{}, More: more}
		return change.eachTurned(store, maxTurned, func(p turnPage) error {
			d.result.Change.Turned = append(d.result.Change.Turned, p)
			return nil
		})
	})
}
