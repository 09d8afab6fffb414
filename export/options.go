package export

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// ErrRun reports a run that never was; the number follows.
var ErrRun = errors.New("there is no run")

// Options select what is in the graph. The zero value is the graph of pages of
// the newest run.
type Options struct {
	Level Level

	// All takes everything that stands, whichever run recorded it; else Run is the
	// run whose links are taken, 0 for the newest. A run that is not completed has
	// what earlier ones left since the last that is. What nodes tell, their state as
	// well, is always what is known now.
	All bool
	Run schema.RunID

	Without   Places  // links at these places are left out; redirects, canonical links and refreshes have none
	MinWeight int     // links that weigh less are left out
	Only      Classes // other nodes are left out, and their links
}

// A window is the runs whose links are taken.
type window struct {
	all        bool
	newest     bool
	from, till schema.RunID // a page or link was last seen in from or later; first seen in till or before
}

func (o *Options) window(s *survey.Survey) (window, error) {
	w := window{all: o.All, till: s.Run().ID}
	if o.All {
		w.newest = true
		return w, nil
	}
	if o.Run != 0 {
		w.till = o.Run
	}
	w.newest = w.till == s.Run().ID
	known := false
	for _, r := range s.Runs() {
		known = known || r.ID == w.till
		if r.ID <= w.till && r.Status == schema.RunCompleted {
			w.from = r.ID
		}
	}
	if !known {
		return w, fmt.Errorf("%w %d", ErrRun, w.till)
	}
	return w, nil
}

// has reports whether something seen from one run to another is taken.
func (w window) has(first, last schema.RunID) bool { return last >= w.from && first <= w.till }

// links reports whether a link between pages is taken.
func (o *Options) links(l schema.Link) bool {
	if l.Kinds.Has(schema.LinkRedirect) || l.Kinds.Has(schema.LinkCanonical) || l.Kinds.Has(schema.LinkRefresh) {
		return true
	}
	return !o.Without.Has(l.Place)
}

// String says what is left out; empty: nothing.
func (o Options) String() string {
	var parts []string
	var places, classes []string
	for p := schema.PlaceMain; p <= schema.PlaceNav; p++ {
		if o.Without.Has(p) {
			places = append(places, p.String())
		}
	}
	for c := schema.ClassDiscovered; c <= schema.ClassStub; c++ {
		if o.Only != 0 && o.Only.Has(c) {
			classes = append(classes, c.String())
		}
	}
	if len(places) > 0 {
		parts = append(parts, "without links in "+strings.Join(places, ", "))
	}
	if o.MinWeight > 1 {
		parts = append(parts, fmt.Sprintf("links of weight %d or more", o.MinWeight))
	}
	if len(classes) > 0 {
		parts = append(parts, "only "+strings.Join(classes, ", "))
	}
	return strings.Join(parts, "; ")
}
