package survey

import (
	"errors"
	"fmt"
	"slices"
	"sort"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// ErrRun reports a run that does not exist or was pruned; the number follows.
var ErrRun = errors.New("there is no run")

// A past is what the survey of an older run reads instead of the store's data for the newest run.
type past struct {
	urls   int      // last id of a URL that was known when the run ended
	latest []uint32 // by id: the last visit until then; 0: none
	near   []near   // by id
}

// At returns the survey of a run as that run left it; for the newest run it is s itself. For an
// unknown run the error wraps [ErrRun].
//
// Visits, links and URLs are never changed, configurations are kept, and depths follow from these.
// Records of hosts are overwritten by every run. So the survey of an older run knows only the names
// of hosts; pages within reach that it did not visit are "discovered" and [Page.Lost]; and a page
// that waited for a request in another form has the state of its answer. Two surveys of a store
// must take turns: no function of one may be called while a function of the other runs.
func (s *Survey) At(id schema.RunID) (*Survey, error) {
	if id == s.core.run.ID {
		return s, nil
	}
	i, err := s.core.find(id)
	if err != nil {
		return nil, err
	}
	older := newSurvey(s.core.store)
	older.core.past, older.core.runs, older.core.ctx = &past{}, s.core.runs[:i+1:i+1], s.core.ctx
	err = older.core.view(func(tx *kv.Tx) error {
		if err := older.core.past.read(tx, s.core.store, older.core.runs, s.core.runs[i+1].FirstVisit); err != nil {
			return err
		}
		return older.core.readConfig(tx)
	})
	if err == nil {
		older.core.past.near, err = older.walks.distances()
	}
	if err != nil {
		return nil, fmt.Errorf("survey of run %d: %w", id, err)
	}
	return older, nil
}

// Past reports whether a later run exists, so that not everything about the survey's run is known,
// see [Survey.At].
func (s *Survey) Past() bool { return s.core.past != nil }

// find returns the index of a run, if its visits are still there.
func (c *core) find(id schema.RunID) (int, error) {
	i := slices.IndexFunc(c.runs, func(r schema.Run) bool { return r.ID == id })
	if i < 0 {
		return 0, fmt.Errorf("%w %d", ErrRun, id)
	}
	var first schema.RunID
	err := c.view(func(tx *kv.Tx) (err error) {
		first, err = tx.Meta.Pruned()
		return err
	})
	if err == nil && id < first {
		err = fmt.Errorf("%w %d any more: what it saw was pruned", ErrRun, id)
	}
	return i, err
}

// read finds what was known when the last of the runs ended. end is the first visit after it.
func (p *past) read(tx *kv.Tx, store *kv.Store, runs []schema.Run, end schema.Seq) error {
	if err := p.readURLs(tx, store, runs); err != nil {
		return err
	}
	run, imports := &runs[len(runs)-1], store.Imports()
	if run.Kind == schema.RunImport {
		imports = nil
	}
	p.latest = make([]uint32, p.urls+1)
	for id := range p.latest[1:] {
		seq, err := latestBefore(tx, schema.ID(id+1), store.Latest(schema.ID(id+1)), end, imports)
		if err != nil {
			return err
		}
		if run.Kind == schema.RunImport && seq < run.FirstVisit {
			seq = 0
		}
		p.latest[id+1] = uint32(seq)
	}
	return nil
}

// readURLs finds the last URL that was known when the last of the runs ended. IDs grow with the runs; those of an
// import that joined a crawl come with those of the crawl, and an import may know any URL.
func (p *past) readURLs(tx *kv.Tx, store *kv.Store, runs []schema.Run) (failed error) {
	run := &runs[len(runs)-1]
	if p.urls = store.URLs(); run.Kind == schema.RunImport {
		return nil
	}
	p.urls = sort.Search(store.URLs(), func(i int) bool {
		u, err := tx.URLs.At(schema.ID(i + 1))
		failed = errors.Join(failed, err)
		joined := func(r schema.Run) bool { return r.ID == u.FirstRun && r.Joined > run.ID }
		return u.FirstRun > run.ID || slices.ContainsFunc(runs, joined)
	})
	return failed
}

// latestBefore returns the last visit of a URL before end that is not one of imports, going back from a visit; 0: there
// is none.
func latestBefore(tx *kv.Tx, id schema.ID, seq, end schema.Seq, imports schema.Imports) (schema.Seq, error) {
	for seq >= end || imports.Has(seq) {
		v, err := tx.Visits.At(seq)
		if err != nil {
			return 0, err
		}
		if v.URL != id {
			return 0, kv.OfAnother(seq, id)
		}
		seq = v.Prev
	}
	return seq, nil
}

// known returns what is known of a host. For an older run that is only its name, whether anything has named it with
// https, which no later run undoes, and its answer for a page that does not exist unless a later run has asked.
func (c *core) known(r *schema.Host) *schema.Host {
	if c.past != nil {
		h := &schema.Host{ID: r.ID, Name: r.Name, HTTPS: r.HTTPS}
		if r.Missing.Run <= c.run.ID {
			h.Missing = r.Missing
		}
		return h
	}
	return r
}
