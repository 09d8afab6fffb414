package record

import (
	"time"

	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// A ledger is the log of visits with the counts of the run. It knows which waiting URLs need no
// visit any more.
type ledger struct {
	in      *runState
	onVisit func(Event)        // may be nil
	settled map[schema.ID]bool // visits of this turn that no further form reopens
}

// An Event is a visit that is about to be committed, for a live view.
type Event struct {
	ID     schema.ID
	URL    string
	State  schema.State
	Status int
	Links  int
	Error  string
	Time   time.Duration // to the first byte
	Asked  bool          // the run counts it as a visit; otherwise the page was settled without a request, or kept
	Again  bool          // the run had visited the page before
	Was    schema.State  // of that visit
}

// done reports whether a waiting URL needs no visit any more.
func (l *ledger) done(id schema.ID) (bool, error) {
	if l.settled[id] {
		return true, nil
	}
	if !l.in.visited(id) {
		return false, nil
	}
	open, err := l.waitsAgain(id)
	return !open, err
}

// waitsAgain reports whether the last visit of a page is reopened.
func (l *ledger) waitsAgain(id schema.ID) (bool, error) {
	v, err := l.in.tx.Visits.At(l.in.latest(id))
	if err != nil {
		return false, err
	}
	return l.reopened(v)
}

// reopened reports whether a visited page waits again, for a form that was unknown when it was
// visited, or because of an answer to HEAD that is no longer believed.
func (l *ledger) reopened(v *schema.Visit) (bool, error) {
	if v.ByHead {
		h, err := l.in.tx.Hosts.At(l.in.store.HostOf(v.URL))
		if err != nil || v.Doubted(h.Heads) {
			return err == nil, err
		}
	}
	return l.in.tx.URLs.Reopens(v, survey.Unanswered(v))
}

// record appends a visit to the log. own says that the page belongs to an origin.
func (l *ledger) record(h *schema.Host, v *schema.Visit, own bool) error {
	if err := l.noteLeft(v, own); err != nil {
		return err
	}
	if _, err := l.in.tx.Visits.Add(v); err != nil {
		return err
	}
	l.settled[v.URL] = !v.ByHead && !l.in.store.MayReopen(v, survey.Unanswered(v))
	if !l.in.isPage(v.URL) {
		return nil
	}
	if kind := v.ErrorKind(); kind != "" && !v.Kept {
		l.countError(kind)
	}
	return l.tell(v, h)
}

// noteLeft handles a page that is being visited and was left waiting by an earlier run. If it
// belongs to an origin, the page joins the run: it is at depth 0 however it was found, like a seed,
// and counts as named by its own host if it did when it was left.
func (l *ledger) noteLeft(v *schema.Visit, own bool) error {
	v.Left = false
	switch seq := l.in.latest(v.URL); {
	case len(l.in.earlier) == 0, l.in.imports != nil, !l.in.isPage(v.URL), l.in.known(v.URL):
		return nil
	case seq >= l.in.run.FirstVisit: // visited again
		before, err := l.in.tx.Visits.At(seq)
		if err == nil {
			v.Left, v.LeftOwn = before.Left, before.LeftOwn
		}
		return err
	}
	u, err := l.in.tx.URLs.At(v.URL)
	if err != nil {
		return err
	}
	v.Left = l.in.begunAfter(u.FirstRun)
	v.LeftOwn = v.LeftOwn && v.Left
	if v.Left && own {
		l.in.tx.Depths.Lower(v.URL, 0, 0)
	}
	if v.LeftOwn && own {
		l.in.tx.Depths.SetOwn(v.URL)
	}
	return nil
}

// tell reports a visit to a live view.
func (l *ledger) tell(v *schema.Visit, h *schema.Host) error {
	if l.onVisit == nil {
		return nil
	}
	norm, err := l.in.tx.URLs.Norm(v.URL)
	if err != nil {
		norm = "https://" + h.Name
	}
	e := Event{
		ID: v.URL, URL: norm, State: v.State, Status: v.Status, Links: len(v.Links), Error: v.Reason.String(),
		Time: v.ResponseTime, Asked: v.Requests > 0,
	}
	if v.Prev >= l.in.run.FirstVisit {
		before, err := l.in.tx.Visits.At(v.Prev)
		if err != nil {
			return err
		}
		e.Again, e.Was = true, before.State
	}
	l.onVisit(e)
	return nil
}

// countAsked counts a request of the run.
func (l *ledger) countAsked(h *schema.Host, page bool) {
	l.in.run.Requests++
	if page {
		h.RunRequests++
	}
}

// countPage counts a page that was settled with a request.
func (l *ledger) countPage(h *schema.Host, r schema.Rendering) {
	h.RunVisited++
	h.Visits++
	l.in.run.Pages++
	switch {
	case r&schema.Rendered != 0:
		l.in.run.Rendered++
	case r != 0:
		l.in.run.Unrendered++
	}
}

// countError counts an error of the run.
func (l *ledger) countError(kind string) {
	if l.in.run.Errors == nil {
		l.in.run.Errors = map[string]int{}
	}
	l.in.run.Errors[kind]++
}
