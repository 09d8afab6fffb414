package survey

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// A Diff compares what two runs saw. It is a function of the log of visits.
//
// A run knows the pages that it visited, those that these pages and its sitemaps name, and its
// seeds. Pages that a run did not visit again, because it is not completed, a budget was used up or
// the network was away, count as the previous run saw them. A page counts as gone only if the run
// visited the pages that led to it, and as new only if it was not there before.
type Diff struct {
	From, To schema.Run

	s       *Survey
	sides   [2]side // of From and of To
	carried *bitset // pages of From that To had no chance to find missing
	changed *bitset // pages that both visited, with differences; nil: not compared yet
}

// A side is what one run saw, by id.
type side struct {
	run    schema.Run
	end    schema.Seq // the first visit after it
	known  *bitset
	seq    []uint32                   // the last visit in the run, for From otherwise the last one before it; 0: none
	missed *bitset                    // the last visit got no final answer, see [schema.Visit.Final]
	source []uint32                   // the visit whose links, facts and texts are current after that; 0: none
	plain  *bitset                    // the last visit read a page, and says nothing that its source does not
	answer []uint8                    // of the last visit
	away   *bitset                    // pages without a visit, because their hosts could not be reached
	moved  map[schema.ID]schema.ID    // redirects of the last visits, until they are followed
	misled map[schema.ID]schema.Cause // pages whose redirects lead nowhere, and why
	soft   map[schema.ID]string       // pages that show what their hosts show for missing pages, and the rule
}

// ErrRuns reports two runs that cannot be compared.
var ErrRuns = errors.New("runs cannot be compared")

// Compare compares two runs. from is the earlier one.
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
		end := s.core.store.LastSeq() + 1
		if at+1 < len(s.core.runs) {
			end = s.core.runs[at+1].FirstVisit
		}
		d.sides[i] = newSide(s.core.runs[at], end, s.core.store.URLs())
	}
	d.From, d.To = d.sides[0].run, d.sides[1].run
	if err := s.core.view(d.read); err != nil {
		return nil, err
	}
	if err := s.core.view(d.goBack); err != nil {
		return nil, err
	}
	if err := s.core.view(d.judgeMissing); err != nil {
		return nil, err
	}
	if err := d.readAway(); err != nil {
		return nil, err
	}
	return d, d.carryOver()
}

func newSide(run schema.Run, end schema.Seq, urls int) side {
	return side{
		run: run, end: end, known: newBitset(urls), seq: make([]uint32, urls+1), source: make([]uint32, urls+1),
		missed: newBitset(urls), plain: newBitset(urls), answer: make([]uint8, urls+1), away: newBitset(urls),
		moved: make(map[schema.ID]schema.ID), misled: make(map[schema.ID]schema.Cause),
		soft: make(map[schema.ID]string),
	}
}

// visited reports whether the run has visited a URL.
func (sd *side) visited(id schema.ID) bool { return sd.has(schema.Seq(sd.seq[id])) }

// looked reports whether the run got a final answer for a URL.
func (sd *side) looked(id schema.ID) bool { return sd.visited(id) && !sd.missed.has(int(id)) }

// has reports whether a visit was made in the run.
func (sd *side) has(seq schema.Seq) bool { return seq >= sd.run.FirstVisit && seq < sd.end }

// read reads what the runs visited and knew, in two passes over the log: one for visits, and one
// for the links that were current after them.
func (d *Diff) read(tx *kv.Tx) error {
	var stood [2]*bitset // by visit
	for i := range d.sides {
		stood[i] = newBitset(int(d.s.core.store.LastSeq()))
		if err := d.readSeeds(tx, &d.sides[i]); err != nil {
			return err
		}
	}
	seen := func(seq schema.Seq, _ schema.ID) bool { return d.sides[0].has(seq) || d.sides[1].has(seq) }
	err := tx.Visits.Gists(seen, func(v *kv.Gist) error {
		i := 0
		if d.sides[1].has(v.Seq) {
			i = 1
		}
		stood[i].set(int(cmp.Or(v.Stand, v.Seq)))
		err := errors.Join(d.sides[i].add(tx, &v.Visit, d.s.core.store.Kind(v.URL)), d.s.core.live())
		if i == 1 && v.Answer == schema.AnswerChallenge { // which says nothing about the page
			d.sides[i].answer[v.URL] = notAsked
		}
		return err
	})
	if err != nil {
		return err
	}
	if err := d.sides[1].findMisled(tx, d.s); err != nil {
		return err
	}
	stands := func(seq schema.Seq, _ schema.ID) bool { return stood[0].has(int(seq)) || stood[1].has(int(seq)) }
	return tx.Visits.EachTargets(1, stands, func(l *kv.Targeted) error {
		for i := range d.sides {
			if !stood[i].has(int(l.Seq)) {
				continue
			}
			for _, to := range l.To {
				d.sides[i].known.set(int(to))
			}
		}
		return d.s.core.live()
	})
}

// add records a visit of the run, as [kv.Visits.Gists] reads it.
func (sd *side) add(tx *kv.Tx, v *schema.Visit, kind schema.URLKind) error {
	sd.known.set(int(v.URL))
	sd.seq[v.URL], sd.source[v.URL] = uint32(v.Seq), uint32(cmp.Or(v.Stand, v.Seq))
	sd.answer[v.URL] = answerOf(v)
	if delete(sd.moved, v.URL); v.State == schema.Processed && v.RedirectTo != 0 {
		sd.moved[v.URL] = v.RedirectTo
	}
	if sd.missed.unset(int(v.URL)); !v.Final() {
		sd.missed.set(int(v.URL))
	}
	sd.plain.unset(int(v.URL))
	own := v.Stand == 0 || v.Length < 0 || v.SHA256 == [32]byte{}
	if own && v.State == schema.Processed && v.RedirectTo == 0 {
		sd.plain.set(int(v.URL))
	}
	if kind != schema.KindSitemap {
		return nil
	}
	whole, err := tx.Visits.At(v.Seq)
	if err != nil {
		return err
	}
	for _, e := range whole.Sitemap {
		sd.known.set(int(e.To))
	}
	return nil
}

func (d *Diff) readSeeds(tx *kv.Tx, sd *side) error {
	cfg, err := configOf(tx, sd.run)
	if err != nil {
		return err
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
				sd.known.set(int(id))
			}
		}
	}
	return nil
}

// A Change says how something differs between two runs.
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
	switch before, after := d.sides[0].known.has(id), d.sides[1].known.has(id) || d.carried.has(id); {
	case after && !before:
		return Came
	case before && !after:
		return Went
	}
	return Same
}

// A PageChange is a page that differs. A visit is nil if the run did not visit the page. But Before
// may be the visit of an earlier run whose result still applies, and a page that the newest run
// could not reach has a visit that says so. Redirects that lead nowhere have failed.
type PageChange struct {
	ID            schema.ID
	URL           string
	Change        Change
	What          []string // of a changed page: state, status, answer, redirect, content, noindex, title
	Before, After *schema.Visit
}

// EachPage calls f for every page that was added, removed or changed, by id.
func (d *Diff) EachPage(f func(*PageChange) error) error {
	return d.eachPage(func(tx *kv.Tx, c *PageChange) (err error) {
		if c.Change != Changed {
			err = d.readVisits(tx, c)
		}
		if err == nil {
			c.URL, err = tx.URLs.Norm(c.ID)
		}
		if err == nil {
			err = f(c)
		}
		return err
	})
}

// eachPage is EachPage without URLs, and without the visits of added and removed pages.
func (d *Diff) eachPage(f func(*kv.Tx, *PageChange) error) error {
	changed := newBitset(d.s.core.store.URLs())
	err := d.s.core.view(func(tx *kv.Tx) error {
		for id := schema.ID(1); int(id) < len(d.sides[0].seq); id++ {
			change := d.presence(int(id))
			if !d.s.core.isPage(id) || change == Same && d.isSame(id) {
				continue
			}
			c := &PageChange{ID: id, Change: change}
			if err := errors.Join(d.compare(tx, c), d.s.core.live()); err != nil {
				return err
			}
			if c.Change == Same {
				continue
			}
			if c.Change == Changed {
				changed.set(int(id))
			}
			if err := f(tx, c); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		d.changed = changed
	}
	return err
}

// isSame reports whether a page is certainly unchanged, without reading its visits: a run did not
// visit it and could reach its host, or both read the same.
func (d *Diff) isSame(id schema.ID) bool {
	before, after := &d.sides[0], &d.sides[1]
	switch {
	case before.seq[id] == 0 || after.seq[id] == 0 && !after.away.has(int(id)):
		return true
	case d.changed != nil:
		return !d.changed.has(int(id))
	}
	return before.source[id] == after.source[id] && before.plain.has(int(id)) && after.plain.has(int(id)) &&
		before.soft[id] == after.soft[id]
}

// compare compares the visits of a page that both runs visited and knew.
func (d *Diff) compare(tx *kv.Tx, c *PageChange) error {
	if c.Change != Same {
		return nil
	}
	err := d.readVisits(tx, c)
	if err != nil {
		return err
	}
	if c.What = differences(c.Before, c.After); len(c.What) > 0 {
		c.Change = Changed
	}
	return nil
}

// Visits returns the visits of a page as in a [PageChange].
func (d *Diff) Visits(id schema.ID) (before, after *schema.Visit, err error) {
	c := PageChange{ID: id}
	err = d.s.core.view(func(tx *kv.Tx) error { return d.readVisits(tx, &c) })
	return c.Before, c.After, err
}

// readVisits reads what the runs recorded about a page.
func (d *Diff) readVisits(tx *kv.Tx, c *PageChange) (err error) {
	for i, v := range []**schema.Visit{&c.Before, &c.After} {
		if err == nil {
			*v, err = d.visit(tx, &d.sides[i], c.ID)
		}
	}
	return err
}

// differences names the ways in which two visits of a page differ. A page behind a wall was not seen again.
func differences(before, after *schema.Visit) []string {
	if after.Answer == schema.AnswerChallenge {
		return nil
	}
	var what []string
	note := func(name string, differ bool) {
		if differ {
			what = append(what, name)
		}
	}
	note("state", before.State != after.State)
	same := after.Kept || after.Stand != 0
	note("status", !same && before.Stand == 0 && before.Status != after.Status)
	note("answer", (before.Answer == schema.AnswerSoft404) != (after.Answer == schema.AnswerSoft404))
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

// A LinkChange is a link that was added or removed.
type LinkChange struct {
	From, To       schema.ID
	FromURL, ToURL string
	Link           schema.Link
	Change         Change
}

// EachLink calls f for every link that was added or removed, by the page that links. Links of a
// page that the later run did not visit, and that is not gone, stay.
func (d *Diff) EachLink(f func(*LinkChange) error) error {
	return d.eachLink(func(tx *kv.Tx, c *LinkChange) (err error) {
		if c.FromURL, err = tx.URLs.Norm(c.From); err == nil {
			c.ToURL, err = tx.URLs.Norm(c.To)
		}
		if err == nil {
			err = f(c)
		}
		return err
	})
}

// eachLink is EachLink without URLs.
func (d *Diff) eachLink(f func(*kv.Tx, *LinkChange) error) error {
	before, after := &d.sides[0], &d.sides[1]
	return d.s.core.view(func(tx *kv.Tx) error {
		var links [2][]schema.Link
		for id := schema.ID(1); int(id) < len(before.seq); id++ {
			if !d.s.core.isPage(id) || before.source[id] == after.source[id] ||
				!after.looked(id) && d.presence(int(id)) != Went {
				continue
			}
			err := d.s.core.live()
			for i := range links {
				links[i] = links[i][:0]
				if seq := schema.Seq(d.sides[i].source[id]); seq != 0 && err == nil {
					links[i], err = tx.Visits.AppendLinks(links[i], seq, id)
				}
			}
			if err != nil {
				return err
			}
			if err := compareLinks(tx, id, links[0], links[1], f); err != nil {
				return err
			}
		}
		return nil
	})
}

// compareLinks calls f for links that are in only one of two lists of a page's links.
func compareLinks(tx *kv.Tx, id schema.ID, before, after []schema.Link, f func(*kv.Tx, *LinkChange) error) error {
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
		c.To = c.Link.To
		if err := f(tx, &c); err != nil {
			return err
		}
	}
	return nil
}
