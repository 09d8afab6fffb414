package decide

import (
	"cmp"
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
)

// An Entry is a decision about a host, for programs.
type Entry struct {
	Host  string   `json:"host"`
	Class string   `json:"class"` // none: there is no entry
	Seeds []string `json:"seeds"`
	Tags  []string `json:"tags"`
	Note  string   `json:"note"`
}

// EntryOf returns an entry of the file.
func EntryOf(d *config.Decision) Entry {
	return Entry{d.Host.String(), string(d.Class), append([]string{}, d.Seeds...), append([]string{}, d.Tags...), d.Note}
}

// A Result is the result of decisions, for programs.
type Result struct {
	Entry             // of the decision, if there is only one
	TOML      string  `json:"toml"`      // all entries
	Decisions []Entry `json:"decisions"` // the entries
	Before    []Entry `json:"before"`    // the same hosts' entries before; they undo the decisions

	Undo *decision.Patch `json:"undo"` // restores the file, given with the entries before; null: nothing was written

	Path    string       `json:"path"`    // file of decisions; empty: there is none
	Version string       `json:"version"` // of that file, as a dry run saw it or as it was written
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

// A Decider makes decisions about hosts under a configuration, all of them or none, for people or programs. It prints
// its progress for people; the result is for programs.
type Decider struct {
	Voice  *term.Voice
	Stdout io.Writer
	States statefile.Files
	JSON   bool
	Path   string         // of the configuration
	Cfg    *config.Config // nil: there is none
	Edits  []config.DecisionEdit
	Undo   *decision.Patch // restores the file as it was before the decisions that the edits undo; nil: they undo none
	Result Result
}

// entered records entries in the result.
func (d *Decider) entered(all []decision.Edited) {
	r := &d.Result
	r.Decisions, r.Before, r.TOML = []Entry{}, []Entry{}, ""
	for i, e := range all {
		none := &config.Decision{Host: d.Edits[i].Host, Class: config.DecidedNone}
		if e.After != nil && r.TOML != "" {
			r.TOML += "\n"
		}
		if e.After != nil {
			r.TOML += e.After.TOML()
		}
		r.Decisions = append(r.Decisions, EntryOf(cmp.Or(e.After, none)))
		r.Before = append(r.Before, EntryOf(cmp.Or(e.Before, none)))
	}
	r.Entry = Entry{Seeds: []string{}, Tags: []string{}}
	if len(r.Decisions) == 1 {
		r.Entry = r.Decisions[0]
	}
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

// Show shows the entries if they cannot be saved in a file. The result says why.
func (d *Decider) Show() error {
	_, all, err := decision.Apply("", nil, changes(d.Edits), nil)
	if err != nil {
		return decideError(d.Path, err)
	}
	d.entered(all)
	if d.Cfg == nil {
		d.Result.Why = fmt.Sprintf("not saved: there is no %s here; name your configuration with --config",
			term.Shown(d.Path))
	} else {
		d.Result.Why = fmt.Sprintf("not saved: %s names no [decisions] file", term.Shown(d.Path))
	}
	return d.print(d.Result.TOML)
}

// foresee returns the configuration as it would be with the entries.
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
	text, all, err := decision.Apply(file, text, changes(d.Edits), d.Undo)
	if err != nil {
		return nil, err
	}
	d.entered(all)
	next, _, err := config.LoadWith(d.Path, map[string][]byte{file: text})
	return next, err
}

// Foretell shows the entries and their effect on the map.
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

// Write writes the entries into the file, if that is unchanged since it was seen, and applies them.
func (d *Decider) Write(ctx context.Context, seen string) error {
	next, err := d.foresee() // otherwise it might be written and then refused
	if err != nil {
		return decideError(d.Path, err)
	}
	if err := mayReclassify(next); err != nil {
		return term.Hint(err, "nothing was written")
	}
	done, err := decision.Write(d.Result.Path, seen, changes(d.Edits), d.Undo)
	if err != nil {
		return decideError(d.Path, err)
	}
	d.entered(done.Edited)
	d.Result.Written, d.Result.Version, d.Result.Undo = true, done.Version, &done.Undo
	d.tell()
	return d.apply(ctx, next)
}

// tell tells what is decided.
func (d *Decider) tell() {
	in := term.Shown(d.Result.Path)
	if len(d.Edits) > 1 {
		d.Voice.Tell(term.Event("decided", fmt.Sprintf("%d hosts are decided, in %s", len(d.Edits), in),
			"hosts", len(d.Edits), "path", d.Result.Path))
		return
	}
	host, class := d.Result.Host, d.Result.Class
	said := fmt.Sprintf("%s is decided: %s, in %s", host, class, in)
	if class == string(config.DecidedNone) {
		said = fmt.Sprintf("%s is not decided any more: its entry is removed from %s", host, in)
	}
	d.Voice.Tell(term.Event("decided", said, "host", host, "class", class, "path", d.Result.Path))
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
