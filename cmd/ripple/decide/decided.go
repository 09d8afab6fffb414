package decide

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/census"
	"github.com/sumi-ripple/ripple/crawl/control"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema/config"
	"github.com/sumi-ripple/ripple/schema/decision"
	"github.com/sumi-ripple/ripple/schema/scope"
)

// A Result is the result of a decision, for programs.
type Result struct {
	Host  string   `json:"host"`
	Class string   `json:"class"`
	Seeds []string `json:"seeds"`
	Tags  []string `json:"tags"`
	Note  string   `json:"note"`
	TOML  string   `json:"toml"` // the entry

	Path    string       `json:"path"`    // file of decisions; empty: there is none
	Version string       `json:"version"` // of that file, as a dry run saw it
	Written bool         `json:"written"`
	Applied string       `json:"applied"` // reload: by the running crawl; reclassify: to the file; empty: not applied
	Why     string       `json:"reason"`  // why nothing was written, or nothing changes
	Change  *ShownChange `json:"change"`  // null: not computed
}

// A ShownChange is a Change with the first changed pages.
type ShownChange struct {
	Change
	Turned []turnedPage `json:"turned_pages"` // the first pages with another class or state
	More   int          `json:"turned_more"`  // number of further pages
}

// A Decider decides about a host under a configuration, for people or programs. It prints its
// progress for people; the result is for programs.
type Decider struct {
	Voice  *term.Voice
	Stdout io.Writer
	States statefile.Files
	JSON   bool
	Path   string         // of the configuration
	Cfg    *config.Config // nil: there is none
	Host   scope.Pattern
	Edit   decision.Edit
	Result Result
}

// entered records an entry in the result.
func (d *Decider) entered(e config.Decision) {
	d.Result.Host, d.Result.Class, d.Result.Note, d.Result.TOML = d.Host.String(), string(e.Class), e.Note, e.TOML()
	d.Result.Seeds, d.Result.Tags = append([]string{}, e.Seeds...), append([]string{}, e.Tags...)
}

// because records why the decision has no effect, and prints that.
func (d *Decider) because(why string) {
	d.Result.Why = why
	d.Voice.Say(why)
}

// print prints only for people.
func (d *Decider) print(text string) error {
	if d.JSON {
		return nil
	}
	return term.Flushed(d.Stdout, func(w io.Writer) error { fmt.Fprint(w, text); return nil })
}

// Show shows an entry that cannot be saved in a file.
func (d *Decider) Show() error {
	e := d.Edit(nil)
	if err := e.Check(); err != nil {
		return decideError(d.Path, err)
	}
	d.entered(e)
	if d.Cfg == nil {
		d.because(fmt.Sprintf("not saved: there is no %s here; name your configuration with --config", term.Shown(d.Path)))
	} else {
		d.because(fmt.Sprintf("not saved: %s names no [decisions] file", term.Shown(d.Path)))
	}
	return d.print(e.TOML())
}

// foresee returns the configuration as it would be with the entry.
func (d *Decider) foresee() (*config.Config, error) {
	file := d.Cfg.Decisions.File
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err != nil {
		return nil, err
	}
	d.Result.Path, d.Result.Version = file, decision.Version(text)
	text, e, err := decision.Apply(file, text, d.Host, d.Edit)
	if err != nil {
		return nil, err
	}
	d.entered(e)
	next, _, err := config.LoadWith(d.Path, map[string][]byte{file: text})
	return next, err
}

// Foretell shows an entry and its effect on the map.
func (d *Decider) Foretell(ctx context.Context) error {
	next, err := d.foresee()
	if err != nil {
		return decideError(d.Path, err)
	}
	if err := mayReclassify(next); err != nil {
		return err
	}
	if err := d.print(d.Result.TOML + "\n"); err != nil {
		return err
	}
	if next.Cluster.Hub != "" {
		d.because("it would change the terrain of all machines; to see how, " +
			"try it on the map that \"ripple merge\" makes from their files")
		return nil
	}
	if _, err := os.Stat(next.State.Path); errors.Is(err, fs.ErrNotExist) {
		d.because("nothing has been crawled yet: nothing would change")
		return nil
	}
	copied, remove, err := d.States.WorkingCopy(ctx, next.State.Path)
	if err != nil {
		return err
	}
	defer remove()
	return d.reclassify(copied, next, true)
}

// Write writes an entry into the file, if that is unchanged since it was seen, and applies it.
func (d *Decider) Write(ctx context.Context, seen string) error {
	next, err := d.foresee() // otherwise it might be written and then refused
	if err != nil {
		return decideError(d.Path, err)
	}
	if err := mayReclassify(next); err != nil {
		return term.Hint(err, "nothing was written")
	}
	e, err := decision.Write(d.Result.Path, d.Host, seen, d.Edit)
	if err != nil {
		return decideError(d.Path, err)
	}
	d.entered(e)
	d.Result.Written, d.Result.Version = true, ""
	d.Voice.Tell(term.Event("decided", fmt.Sprintf("%s is decided: %s, in %s", d.Host, e.Class,
		term.Shown(d.Result.Path)), "host", d.Host.String(), "class", string(e.Class), "path", d.Result.Path))
	return d.apply(ctx, next)
}

// mayReclassify returns an error for a state file that cannot follow another configuration: it
// holds a part of a terrain, or tells pages apart by other rules. For a file that cannot be read
// now, for example because it is being crawled, the attempt to apply the decision says more.
func mayReclassify(cfg *config.Config) error {
	if cfg.Cluster.Hub != "" { // not reclassified here
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

// apply applies a decision to the map: the running crawl reloads it, or the file is reclassified.
// On several machines, no single one can do that.
func (d *Decider) apply(ctx context.Context, cfg *config.Config) error {
	if cfg.Cluster.Hub != "" {
		d.because("this machine has it; when all machines do, \"ripple reload\" applies it to the terrain")
		return nil
	}
	var st census.Status
	err := d.States.CrawlOf(cfg.State.Path).Post(ctx, "reload", &st)
	switch {
	case err == nil:
		d.Result.Applied = "reload"
		d.Voice.Say("the running crawl uses it from now on")
		return nil
	case !errors.Is(err, control.ErrNobody):
		return term.Hint(err, "the decision is written; %q applies it", "ripple reload")
	}
	if _, err := os.Stat(cfg.State.Path); errors.Is(err, fs.ErrNotExist) {
		d.because("nothing has been crawled yet: the first crawl will use it")
		return nil
	}
	if err := d.reclassify(cfg.State.Path, cfg, false); err != nil {
		return term.Hint(err, "the decision is written; apply it with: ripple reclassify %s", term.Shown(d.Path))
	}
	d.Result.Applied = "reclassify"
	return nil
}

// reclassify applies a configuration to a state file, and prints what changes.
func (d *Decider) reclassify(state string, cfg *config.Config, dry bool) error {
	return Reclassify(state, cfg, func(store *kv.Store, change *Change) error {
		if !d.JSON {
			return term.Flushed(d.Stdout, func(w io.Writer) error { return change.Print(w, store, dry) })
		}
		more := max(0, len(change.turned)-maxTurned)
		d.Result.Change = &ShownChange{Change: *change, Turned: []turnedPage{}, More: more}
		return change.eachTurned(store, maxTurned, func(p turnedPage) error {
			d.Result.Change.Turned = append(d.Result.Change.Turned, p)
			return nil
		})
	})
}
