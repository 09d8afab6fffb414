package survey

import (
	"errors"
	"fmt"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

// A Diff compares what two runs saw: a function of the log of visits.
//
// A run knows the pages that it visited, those that these pages and its sitemaps name,
// and its seeds. What the later run did not look at again, because it is not over or a
// budget was used up, stands as the earlier one saw it: no page is said to have gone
// unless the way to it was walked.
type Diff struct {
	From, To schema.Run

	s       *Survey
	seqs    [2][]uint32 // by id: the last visit in the run; 0: none
	known   [2]*bitset  // by id
	carried *bitset     // pages of From that To had no chance to find gone
}

// ErrRuns reports two runs that cannot be compared.
var ErrRuns = errors.New("runs cannot be compared")

// Compare compares two runs, the earlier one first.
func Compare(s *Survey, from, to schema.RunID) (*Diff, error) {
	if from >= to {
		return nil, fmt.Errorf("%w: run %d is not before run %d", ErrRuns, from, to)
	}
	d := &Diff{s: s, carried: newBitset(s.core.store.URLs())}
	for i, id := range []schema.RunID{from, to} {
		at, err := s.core.find(id)
		if errors.Is(err, ErrRun) {
			err = fmt.Errorf("%w: %w", ErrRuns, err)
		}
		if err != nil {
			return nil, err
		}
		run, end := s.core.runs[at], s.core.store.LastSeq()+1
		if at+1 < len(s.core.runs) {
			end = s.core.runs[at+1].FirstVisit
		}
		if i == 0 {
			d.From = run
		} else {
			d.To = run
		}
		if err := d.read(i, run, end); err != nil {
			return nil, err
		}
	}
	return d, d.carryOver()
}

// read notes what one run visited and knew.
func (d *Diff) read(i int, run schema.Run, end schema.Seq) error {
	d.seqs[i], d.known[i] = make([]uint32, d.s.core.store.URLs()+1), newBitset(d.s.core.store.URLs())
	return d.s.core.view(func(tx *kv.Tx) error {
		if err := d.readSeeds(tx, i, run); err != nil {
			return err
		}
		if run.FirstVisit >= end {
			return nil
		}
		return tx.Visits.Each(run.FirstVisit, func(v *schema.Visit) (bool, error) {
			if v.Seq >= end {
				return false, nil
			}
			d.seqs[i][v.URL] = uint32(v.Seq)
			d.known[i].set(int(v.URL))
			for _, e := range v.Sitemap {
				d.known[i].set(int(e.To))
			}
			links := v.Links
			if v.Stand != 0 {
				var err error
				if links, err = tx.Visits.AppendLinks(nil, v.Stand); err != nil {
					return false, err
				}
			}
			for _, l := range links {
				d.known[i].set(int(l.To))
			}
			return true, nil
		})
	})
}

func (d *Diff) readSeeds(tx *kv.Tx, i int, run schema.Run) error {
	text, err := tx.Runs.Config(run.Config)
	if err != nil {
		return fmt.Errorf("configuration of run %d: %w", run.ID, err)
	}
	cfg, err := config.ParseEffective(text)
	if err != nil {
		return fmt.Errorf("configuration of run %d: %w", run.ID, err)
	}
	for _, origin := range cfg.Quality {
		for _, raw := range origin.Seeds {
			u, err := cfg.Rules().Parse(raw)
			if err != nil {
				continue
			}
			id, ok, err := d.s.core.lookup(u.Norm)
			if err != nil {
				return err
			}
			if ok {
				d.known[i].set(int(id))
			}
		}
	}
	return nil
}

// carryOver marks what stands because To did not look: the pages that it knows
// and did not visit, and what From found from there.
func (d *Diff) carryOver() error {
	var work []schema.ID
	for id := schema.ID(1); int(id) < len(d.seqs[0]); id++ {
		if d.seqs[0][id] != 0 && d.seqs[1][id] == 0 && d.known[1].has(int(id)) {
			work = append(work, id)
		}
	}
	if d.To.Status != schema.RunCompleted { // what its sitemaps will name
		for id := schema.ID(1); int(id) < len(d.seqs[0]); id++ {
			if d.seqs[0][id] != 0 && d.seqs[1][id] == 0 && !d.s.core.isPage(id) {
				work = append(work, id)
			}
		}
	}
	return d.s.core.view(func(tx *kv.Tx) error {
		for len(work) > 0 {
			id := work[len(work)-1]
			work = work[:len(work)-1]
			v, err := d.s.core.standing(tx, schema.Seq(d.seqs[0][id]))
			if err != nil {
				return err
			}
			for _, to := range targetsOf(v) {
				if d.carried.has(int(to)) || d.seqs[1][to] != 0 {
					continue
				}
				d.carried.set(int(to))
				if d.seqs[0][to] != 0 && !d.known[1].has(int(to)) {
					work = append(work, to)
				}
			}
		}
		return nil
	})
}

func targetsOf(v *schema.Visit) []schema.ID {
	ids := make([]schema.ID, 0, len(v.Links)+len(v.Sitemap))
	for _, l := range v.Links {
		ids = append(ids, l.To)
	}
	for _, e := range v.Sitemap {
		ids = append(ids, e.To)
	}
	return ids
}

// A Change says what has become of something between two runs.
type Change uint8

// The changes.
const (
	Same Change = iota
	Came
	Went
	Changed
)

// String returns the word for the change.
func (c Change) String() string { return [...]string{"same", "came", "went", "changed"}[c] }

// presence compares what the two runs know of an id.
func (d *Diff) presence(id int) Change {
	switch before, after := d.known[0].has(id), d.known[1].has(id) || d.carried.has(id); {
	case after && !before:
		return Came
	case before && !after:
		return Went
	}
	return Same
}

// A PageChange is a page that is not as it was. The visits are nil where the run
// did not visit the page.
type PageChange struct {
	ID            schema.ID
	URL           string
	Change        Change
	What          []string // of a page that has changed: state, status, redirect, content, noindex, title
	Before, After *schema.Visit
}

// EachPage calls f for every page that came, went or changed, by id.
func (d *Diff) EachPage(f func(*PageChange) error) error {
	return d.s.core.view(func(tx *kv.Tx) error {
		for id := schema.ID(1); int(id) < len(d.seqs[0]); id++ {
			if !d.s.core.isPage(id) {
				continue
			}
			c := &PageChange{ID: id, Change: d.presence(int(id))}
			err := d.readVisits(tx, c)
			if err == nil && c.Change == Same {
				continue
			}
			if err == nil {
				c.URL, err = tx.URLs.Norm(id)
			}
			if err == nil {
				err = f(c)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// readVisits reads what the runs recorded of a page, and compares where both did.
func (d *Diff) readVisits(tx *kv.Tx, c *PageChange) error {
	before, after := schema.Seq(d.seqs[0][c.ID]), schema.Seq(d.seqs[1][c.ID])
	if c.Change == Same && (before == 0 || after == 0) {
		return nil
	}
	var err error
	if before != 0 {
		if c.Before, err = d.s.core.standing(tx, before); err != nil {
			return err
		}
	}
	if after != 0 {
		if c.After, err = d.s.core.standing(tx, after); err != nil {
			return err
		}
	}
	if c.Change == Same {
		if c.What = differences(c.Before, c.After); len(c.What) > 0 {
			c.Change = Changed
		}
	}
	return nil
}

// differences names what two visits of a page disagree about.
func differences(before, after *schema.Visit) []string {
	var what []string
	note := func(name string, differ bool) {
		if differ {
			what = append(what, name)
		}
	}
	note("state", before.State != after.State)
	same := after.Kept || after.Stand != 0
	note("status", !same && before.Stand == 0 && before.Status != after.Status)
	note("redirect", before.RedirectTo != after.RedirectTo)
	if before.State != schema.Processed || after.State != schema.Processed {
		return what
	}
	read := before.Length >= 0 && after.Length >= 0
	note("content", read && before.SHA256 != after.SHA256)
	note("noindex", before.NoIndex != after.NoIndex)
	note("title", before.Title != after.Title)
	return what
}

// A LinkChange is a link that came or went.
type LinkChange struct {
	From, To       schema.ID
	FromURL, ToURL string
	Link           schema.Link
	Change         Change
}

// EachLink calls f for every link that came or went, by the page that links. Links
// of a page that the later run did not visit, and that did not go, stand.
func (d *Diff) EachLink(f func(*LinkChange) error) error {
	return d.s.core.view(func(tx *kv.Tx) error {
		for id := schema.ID(1); int(id) < len(d.seqs[0]); id++ {
			if !d.s.core.isPage(id) || d.seqs[1][id] == 0 && d.presence(int(id)) != Went {
				continue
			}
			if err := d.compareLinks(tx, id, f); err != nil {
				return err
			}
		}
		return nil
	})
}

func (d *Diff) compareLinks(tx *kv.Tx, id schema.ID, f func(*LinkChange) error) error {
	var links [2][]schema.Link
	for i := range links {
		if seq := schema.Seq(d.seqs[i][id]); seq != 0 {
			var err error
			if links[i], err = d.s.core.appendLinks(tx, nil, seq); err != nil {
				return err
			}
		}
	}
	before, after := links[0], links[1]
	for len(before) > 0 || len(after) > 0 {
		c := LinkChange{From: id}
		switch {
		case len(after) == 0 || len(before) > 0 && before[0].To < after[0].To:
			c.Link, c.Change, before = before[0], Went, before[1:]
		case len(before) == 0 || after[0].To < before[0].To:
			c.Link, c.Change, after = after[0], Came, after[1:]
		default:
			before, after = before[1:], after[1:]
			continue
		}
		if err := d.nameLink(tx, &c); err != nil {
			return err
		}
		if err := f(&c); err != nil {
			return err
		}
	}
	return nil
}

func (d *Diff) nameLink(tx *kv.Tx, c *LinkChange) error {
	c.To = c.Link.To
	var err error
	if c.FromURL, err = tx.URLs.Norm(c.From); err == nil {
		c.ToURL, err = tx.URLs.Norm(c.To)
	}
	return err
}
