package decide

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// A Change is the effect of changed lists.
type Change struct {
	Run     int          `json:"run_id"`
	Status  string       `json:"status"`
	Pages   int          `json:"pages"`
	Changed int          `json:"pages_changed"`
	Classes []turnCount  `json:"classes"`
	States  []turnCount  `json:"states"`
	Depths  depthChanges `json:"depths"`
	Waiting int          `json:"pages_waiting"` // for the next crawl

	before, after []standing  // by id
	turned        []schema.ID // pages with another class or state
}

// A turnCount counts the pages that changed from one word to another.
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

// A turnedPage is a page whose class or state changed.
type turnedPage struct {
	URL         string `json:"url"`
	ClassBefore string `json:"class_before"`
	Class       string `json:"class"`
	StateBefore string `json:"state_before"`
	State       string `json:"state"`
}

// maxTurned is the number of changed pages that are printed.
const maxTurned = 20

// compareStandings compares the pages before and after a change.
func compareStandings(before, after []standing) *Change {
	r := &Change{Classes: []turnCount{}, States: []turnCount{}, before: before, after: after}
	for id, now := range after {
		if !now.page {
			continue
		}
		r.Pages++
		if now.waits {
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

// eachTurned calls f for the first pages with another class or state.
func (r *Change) eachTurned(store *kv.Store, most int, f func(turnedPage) error) error {
	return store.View(func(tx *kv.Tx) error {
		for _, id := range r.turned[:min(most, len(r.turned))] {
			norm, err := tx.URLs.Norm(id)
			if err != nil {
				return err
			}
			was, is := r.before[id], r.after[id]
			p := turnedPage{norm, was.class.String(), is.class.String(), was.state.String(), is.state.String()}
			if err := f(p); err != nil {
				return err
			}
		}
		return nil
	})
}

// WriteJSON writes one object, with one line for each page, so that the pages of a large map are
// never all held in memory.
func (r *Change) WriteJSON(w io.Writer, store *kv.Store) error {
	head, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "%s,\n  \"turned_pages\": [", bytes.TrimSuffix(head, []byte("\n}")))
	comma := ""
	err = r.eachTurned(store, len(r.turned), func(p turnedPage) error {
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

// Print prints the change.
func (r *Change) Print(w io.Writer, store *kv.Store, dryRun bool) error {
	verb := "changed"
	if dryRun {
		verb = "would change"
	}
	fmt.Fprintf(w, "run #%d: %s of %s %s; %s\n", r.Run, term.Commas(r.Changed), term.Count(r.Pages, "page", "pages"), verb,
		r.outlook(dryRun))
	if r.Changed == 0 {
		return nil
	}
	t := term.NewTable(w)
	t.Row("")
	for _, list := range []struct {
		name  string
		turns []turnCount
	}{{"class", r.Classes}, {"state", r.States}} {
		for _, c := range list.turns {
			t.Row(list.name, c.From+" -> "+c.To, term.Commas(c.Pages))
		}
	}
	for _, d := range []struct {
		name  string
		pages int
	}{{"nearer", r.Depths.Nearer}, {"farther", r.Depths.Farther},
		{"gained", r.Depths.Gained}, {"lost", r.Depths.Lost}} {
		if d.pages > 0 {
			t.Row("depth", d.name, term.Commas(d.pages))
		}
	}
	if len(r.turned) > 0 {
		t.Row("")
		t.Row("page", "class", "state")
	}
	err := r.eachTurned(store, maxTurned, func(p turnedPage) error {
		t.Row(term.ShownHost(p.URL, 200), turned(p.ClassBefore, p.Class), turned(p.StateBefore, p.State))
		return nil
	})
	if n := len(r.turned) - maxTurned; n > 0 {
		t.Row(fmt.Sprintf("and %s more; --json lists all", term.Commas(n)))
	}
	return errors.Join(err, t.Flush())
}

// turned describes the change of a word.
func turned(from, to string) string {
	if from == to {
		return to
	}
	return from + " -> " + to
}

// outlook says what the next crawl will do.
func (r *Change) outlook(dryRun bool) string {
	if r.Status == schema.RunCompleted.String() {
		return "it stays completed"
	}
	text := fmt.Sprintf("%s for the next \"ripple crawl\"", term.Count(r.Waiting, "page waits", "pages wait"))
	if dryRun {
		text = strings.Replace(text, "wait", "would wait", 1)
		text = strings.Replace(text, "waits", "wait", 1)
	}
	return text
}
