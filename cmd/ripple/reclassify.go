package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/control"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

type reclassifyOptions struct {
	dryRun bool
	json   bool
}

func (o *reclassifyOptions) addFlags(f *pflag.FlagSet) {
	f.BoolVar(&o.dryRun, "dry-run", false, "show what would change, and write nothing")
	f.BoolVar(&o.json, "json", false, "print JSON, with every page that changes")
}

func newReclassifyCommand(a *app) *cobra.Command {
	var opts reclassifyOptions
	cmd := &cobra.Command{
		Use:   "reclassify [CONFIG]",
		Short: "Apply changed lists to the map, without asking a server",
		Long: `Apply the lists and limits in CONFIG (config.toml if none is named) to the pages
already known. Classes, depths and the queue are worked out from the recorded links;
no server is asked, and visited pages keep their facts. The next "ripple crawl"
visits pages that have come within reach, and "ripple export" rewrites the outputs.
A running crawl does the same on SIGHUP.`,
		Example: "  ripple reclassify config.toml --dry-run\n  ripple reclassify config.toml && ripple export",
		Args:    cobra.MaximumNArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return runReclassify(cmd.Context(), a, opts, args) },
	}
	opts.addFlags(cmd.Flags())
	return cmd
}

func runReclassify(ctx context.Context, a *app, opts reclassifyOptions, args []string) error {
	path, err := a.configPath(args)
	if err != nil {
		return err
	}
	cfg, err := a.load(path)
	if err != nil {
		return err
	}
	state := cfg.State.Path
	if opts.dryRun {
		copied, remove, err := a.workingCopy(ctx, state)
		if err != nil {
			return err
		}
		defer remove()
		state = copied
	} else if err := mustExist(state); err != nil {
		return err
	}
	store, err := openLocked(state, nil)
	if err != nil {
		return err
	}
	defer store.Close()
	change, err := reclassify(store, cfg)
	if err != nil {
		return err
	}
	if opts.json {
		return change.writeJSON(a.stdout, store)
	}
	return flushed(a.stdout, func(w io.Writer) error { return change.print(w, store, opts.dryRun) })
}

// workingCopy makes a copy of a state file that may be changed, and returns its
// name and what removes it.
func (a *app) workingCopy(ctx context.Context, state string) (copied string, remove func(), err error) {
	copied, remove, err = a.copyCrawled(ctx, state)
	if !errors.Is(err, control.ErrNobody) {
		return copied, remove, err
	}
	store, err := openQuiet(state)
	if err != nil {
		return "", nil, err
	}
	defer store.Close()
	return temporaryCopy(func(f *os.File) error {
		if err := fits(filepath.Dir(f.Name()), store.Size()); err != nil {
			return err
		}
		_, err := store.Snapshot(f)
		return err
	})
}

// reclassify applies a configuration to a store and compares before and after.
func reclassify(store *kv.Store, cfg *config.Config) (*reclassified, error) {
	cfg, err := withKeptSeeds(store, cfg)
	if err != nil {
		return nil, err
	}
	before, err := standings(store)
	if err != nil {
		return nil, err
	}
	run, err := crawl.Reclassify(store, cfg)
	if err != nil {
		return nil, err
	}
	after, err := standings(store)
	if err != nil {
		return nil, err
	}
	r := compareStandings(before, after)
	r.Run, r.Status = int(run.ID), run.Status.String()
	return r, nil
}

// withKeptSeeds adds the seeds that the last run has beside those of its
// configuration.
func withKeptSeeds(store *kv.Store, cfg *config.Config) (*config.Config, error) {
	var kept extraSeeds
	err := store.View(func(tx *kv.Tx) error {
		runs, err := tx.Runs.All()
		if err != nil || len(runs) == 0 {
			return err
		}
		text, err := tx.Meta.Value(metaSeeds)
		if err == nil && text != nil {
			err = json.Unmarshal(text, &kept)
		}
		if kept.Run != runs[len(runs)-1].ID {
			kept.URLs = nil
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return kept.joinKept(cfg, 0)
}

// A standing is what lists and depths make of a page.
type standing struct {
	page  bool
	class schema.Class
	state schema.State
	depth uint8
}

// standings returns those of all pages, by id.
func standings(store *kv.Store) ([]standing, error) {
	s, err := survey.New(store)
	if err != nil {
		return nil, err
	}
	s.Interrupt()
	all := make([]standing, store.URLs()+1)
	return all, s.EachPage(func(p *survey.Page) error {
		all[p.ID] = standing{true, p.Class, p.State, p.Depth}
		return nil
	})
}

// A reclassified is what changed lists come to.
type reclassified struct {
	Run     int          `json:"run_id"`
	Status  string       `json:"status"`
	Pages   int          `json:"pages"`
	Changed int          `json:"pages_changed"`
	Classes []turnCount  `json:"classes"`
	States  []turnCount  `json:"states"`
	Depths  depthChanges `json:"depths"`
	Waiting int          `json:"pages_waiting"` // for the next crawl

	before, after []standing  // by id
	turned        []schema.ID // pages that have another class or state
}

// A turnCount counts the pages that turned from one word into another.
type turnCount struct {
	From  string `json:"from"`
	To    string `json:"to"`
	Pages int    `json:"pages"`
}

type depthChanges struct {
	Nearer  int `json:"nearer"`
	Farther int `json:"farther"`
	Gained  int `json:"gained"`
	Lost    int `json:"lost"`
}

type turnPage struct {
	URL         string `json:"url"`
	ClassBefore string `json:"class_before"`
	Class       string `json:"class"`
	StateBefore string `json:"state_before"`
	State       string `json:"state"`
}

// maxTurned is how many changed pages a person is shown.
const maxTurned = 20

func compareStandings(before, after []standing) *reclassified {
	r := &reclassified{Classes: []turnCount{}, States: []turnCount{}, before: before, after: after}
	for id, now := range after {
		if !now.page {
			continue
		}
		r.Pages++
		if now.state == schema.Queued {
			r.Waiting++
		}
		if id >= len(before) || before[id] == now {
			continue
		}
		was := before[id]
		r.Changed++
		r.Depths.add(was.depth, now.depth)
		if was.class != now.class {
			r.Classes = countTurn(r.Classes, was.class.String(), now.class.String())
		}
		if was.state != now.state {
			r.States = countTurn(r.States, was.state.String(), now.state.String())
		}
		if was.class != now.class || was.state != now.state {
			r.turned = append(r.turned, schema.ID(id))
		}
	}
	byCount := func(a, b turnCount) int { return b.Pages - a.Pages }
	slices.SortStableFunc(r.Classes, byCount)
	slices.SortStableFunc(r.States, byCount)
	return r
}

func countTurn(all []turnCount, from, to string) []turnCount {
	for i := range all {
		if all[i].From == from && all[i].To == to {
			all[i].Pages++
			return all
		}
	}
	return append(all, turnCount{from, to, 1})
}

func (d *depthChanges) add(was, now uint8) {
	switch {
	case was == now:
	case was == kv.NoDepth:
		d.Gained++
	case now == kv.NoDepth:
		d.Lost++
	case now < was:
		d.Nearer++
	default:
		d.Farther++
	}
}

// eachTurned calls f for the first pages that have another class or state.
func (r *reclassified) eachTurned(store *kv.Store, most int, f func(turnPage) error) error {
	return store.View(func(tx *kv.Tx) error {
		for _, id := range r.turned[:min(most, len(r.turned))] {
			norm, err := tx.URLs.Norm(id)
			if err != nil {
				return err
			}
			was, is := r.before[id], r.after[id]
			p := turnPage{norm, was.class.String(), is.class.String(), was.state.String(), is.state.String()}
			if err := f(p); err != nil {
				return err
			}
		}
		return nil
	})
}

// writeJSON writes one object, its pages one line for each, so that those of a
// large map are never held in memory.
func (r *reclassified) writeJSON(w io.Writer, store *kv.Store) error {
	head, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "%s,\n  \"turned_pages\": [", bytes.TrimSuffix(head, []byte("\n}")))
	comma := ""
	err = r.eachTurned(store, len(r.turned), func(p turnPage) error {
		line, err := json.Marshal(p)
		fmt.Fprintf(out, "%s\n    %s", comma, line)
		comma = ","
		return err
	})
	if err != nil {
		return err
	}
	fmt.Fprint(out, "\n  ]\n}\n")
	return out.Flush()
}

func (r *reclassified) print(w io.Writer, store *kv.Store, dryRun bool) error {
	verb := "changed"
	if dryRun {
		verb = "would change"
	}
	fmt.Fprintf(w, "run #%d: %s of %s %s; %s\n", r.Run, commas(r.Changed), count(r.Pages, "page", "pages"), verb,
		r.outlook(dryRun))
	if r.Changed == 0 {
		return nil
	}
	t := newTable(w)
	t.row("")
	for _, list := range []struct {
		name  string
		turns []turnCount
	}{{"class", r.Classes}, {"state", r.States}} {
		for _, c := range list.turns {
			t.row(list.name, c.From+" -> "+c.To, commas(c.Pages))
		}
	}
	for _, d := range []struct {
		name  string
		pages int
	}{{"nearer", r.Depths.Nearer}, {"farther", r.Depths.Farther}, {"gained", r.Depths.Gained}, {"lost", r.Depths.Lost}} {
		if d.pages > 0 {
			t.row("depth", d.name, commas(d.pages))
		}
	}
	if len(r.turned) > 0 {
		t.row("")
		t.row("page", "class", "state")
	}
	err := r.eachTurned(store, maxTurned, func(p turnPage) error {
		t.row(clean(p.URL, 200), turned(p.ClassBefore, p.Class), turned(p.StateBefore, p.State))
		return nil
	})
	if n := len(r.turned) - maxTurned; n > 0 {
		t.row(fmt.Sprintf("and %s more; --json lists all", commas(n)))
	}
	return errors.Join(err, t.Flush())
}

// turned says what a word has become.
func turned(from, to string) string {
	if from == to {
		return to
	}
	return from + " -> " + to
}

// outlook says what the next crawl will do.
func (r *reclassified) outlook(dryRun bool) string {
	if r.Status == schema.RunCompleted.String() {
		return "it stays completed"
	}
	text := fmt.Sprintf("%s for the next \"ripple crawl\"", count(r.Waiting, "page waits", "pages wait"))
	if dryRun {
		text = strings.Replace(text, "wait", "would wait", 1)
		text = strings.Replace(text, "waits", "wait", 1)
	}
	return text
}
