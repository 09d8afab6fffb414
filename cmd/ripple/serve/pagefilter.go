package serve

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/cmd/ripple/desk"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// noValue selects pages without a value.
const noValue = "none"

// answerPage selects pages that were read and are real pages: no soft 404s, walls or parked domains.
const answerPage = "page"

// pageFilters returns the names of the parameters that filter pages.
func pageFilters() []string {
	return []string{"search", "state", "class", "status_code", "content_type", "depth", "domain", "quality_origin",
		"answer", "error", "error_kind", "progress", "run", "change", "from", "to"}
}

// filterKey names a selection of pages; empty: all of them.
func filterKey(q desk.Query) string {
	var b strings.Builder
	for _, name := range pageFilters() {
		if value := filterValue(q, name); value != "" {
			b.WriteString(name + "=" + strconv.Quote(value) + "&")
		}
	}
	return b.String()
}

func filterValue(q desk.Query, name string) string {
	switch name {
	case "run", "from", "to":
		if q.Number(name) == 0 {
			return ""
		}
		return strconv.Itoa(q.Number(name))
	}
	return q.Text(name)
}

// matching returns the pages that match a query, by id.
func (t *pageTable) matching(ctx context.Context, q desk.Query) (*pageList, error) {
	if err := t.readPages(); err != nil {
		return nil, err
	}
	key := filterKey(q)
	if key == "" {
		return &pageList{ids: t.pages, whole: true}, nil
	}
	return t.keep("matching "+key, func() (*pageList, error) {
		fits, err := t.tests(q)
		if err != nil {
			return nil, err
		}
		list := &pageList{whole: true}
		for _, id := range t.pages {
			if fits(schema.ID(id)) {
				list.ids = append(list.ids, id)
			}
		}
		if search := q.Text("search"); search != "" && len(list.ids) > 0 {
			list, err = t.search(ctx, list.ids, strings.ToLower(search))
		}
		return list, err
	})
}

// tests returns a function that applies the filters of a query other than the search.
func (t *pageTable) tests(q desk.Query) (func(schema.ID) bool, error) {
	var all []func(schema.ID) bool
	ofFact := func(name string, make func(value string) (func(*pageFact) bool, error)) error {
		value := q.Text(name)
		if value == "" {
			return nil
		}
		if err := t.readFacts(); err != nil {
			return err
		}
		is, err := make(value)
		all = append(all, func(id schema.ID) bool { return is(&t.facts[id]) })
		return err
	}
	word := func(list func() *wordList, of func(*pageFact) uint16) func(string) (func(*pageFact) bool, error) {
		return func(value string) (func(*pageFact) bool, error) {
			n, known := list().numbers[value]
			if value == noValue {
				n, known = 0, true
			}
			return func(f *pageFact) bool { return known && of(f) == n }, nil
		}
	}
	err := errors.Join(
		ofFact("state", func(value string) (func(*pageFact) bool, error) {
			return func(f *pageFact) bool { return f.state.String() == value }, nil
		}),
		ofFact("class", func(value string) (func(*pageFact) bool, error) {
			return func(f *pageFact) bool { return f.class.String() == value }, nil
		}),
		ofFact("answer", func(value string) (func(*pageFact) bool, error) {
			return func(f *pageFact) bool {
				return value == answerPage && f.answer == schema.AnswerPage && f.state == schema.Processed ||
					value != answerPage && f.answer.String() == value
			}, nil
		}),
		ofFact("status_code", statusTest), ofFact("depth", depthTest),
		ofFact("content_type", word(func() *wordList { return t.media }, func(f *pageFact) uint16 { return f.media })),
		ofFact("error", word(func() *wordList { return t.failures }, func(f *pageFact) uint16 { return f.failure })),
		ofFact("error_kind", word(func() *wordList { return t.kinds }, func(f *pageFact) uint16 { return f.kind })),
	)
	if err != nil {
		return nil, err
	}
	// A slow filter looks at hosts, visits or all pages first.
	slow := func(wanted bool, make func() (func(schema.ID) bool, error)) {
		if wanted && err == nil {
			var is func(schema.ID) bool
			is, err = make()
			all = append(all, is)
		}
	}
	type test = func(schema.ID) bool
	name, origin, progress, run := q.Text("domain"), q.Text("quality_origin"), q.Text("progress"), q.Number("run")
	slow(name != "", func() (test, error) { return t.onHosts(name) })
	slow(origin != "", func() (test, error) { return t.ofOrigin(origin) })
	slow(progress != "", func() (test, error) { return t.inProgress(progress) })
	slow(run > 0, func() (test, error) { return t.requestedIn(schema.RunID(run)) })
	slow(q.Text("change") != "", func() (test, error) { return t.changed(q) })
	if err != nil {
		return nil, err
	}
	return func(id schema.ID) bool {
		for _, is := range all {
			if !is(id) {
				return false
			}
		}
		return true
	}, nil
}

// statusTest selects a status, such as 404, a class of them, such as 4xx, or pages without one.
func statusTest(value string) (func(*pageFact) bool, error) {
	if value == noValue {
		return func(f *pageFact) bool { return f.status == 0 }, nil
	}
	low, wide := strings.CutSuffix(value, "xx")
	n, err := strconv.ParseUint(low, 10, 16)
	if err != nil || wide && n > 9 {
		return nil, term.Usage("status_code must be a status, such as 404 or 4xx, or %s", noValue)
	}
	return func(f *pageFact) bool { return wide && f.status/100 == uint16(n) || !wide && f.status == uint16(n) }, nil
}

func depthTest(value string) (func(*pageFact) bool, error) {
	if value == noValue {
		return func(f *pageFact) bool { return f.depth == kv.NoDepth }, nil
	}
	n, err := strconv.ParseUint(value, 10, 8)
	if err != nil || n == kv.NoDepth {
		return nil, term.Usage("depth must be a number, or %s", noValue)
	}
	return func(f *pageFact) bool { return f.depth == uint8(n) }, nil
}

// onHosts selects the pages of a host, or with *.NAME those of NAME and its subdomains.
func (t *pageTable) onHosts(name string) (func(schema.ID) bool, error) {
	hosts, name := &t.survey.Hosts, strings.ToLower(name)
	parent, below := strings.CutPrefix(name, "*.")
	if !below {
		host, known, err := hosts.Lookup(name)
		return func(id schema.ID) bool { return known && hosts.Of(id) == host }, err
	}
	return t.onNamed(func(name string) bool { return name == parent || strings.HasSuffix(name, "."+parent) })
}

// onNamed selects the pages of the hosts whose names are chosen.
func (t *pageTable) onNamed(is func(name string) bool) (func(schema.ID) bool, error) {
	hosts := &t.survey.Hosts
	chosen := make([]bool, hosts.Count()+1)
	for id := 1; id < len(chosen); id++ {
		name, err := hosts.Name(schema.HostID(id))
		if err != nil {
			return nil, err
		}
		chosen[id] = is(name)
	}
	return func(id schema.ID) bool { return chosen[hosts.Of(id)] }, nil
}

// ofOrigin selects the pages of an origin's hosts.
func (t *pageTable) ofOrigin(name string) (func(schema.ID) bool, error) {
	scope := t.survey.Scope()
	at, err := originAt(t.survey, name)
	if err != nil {
		return nil, err
	}
	return t.onNamed(func(host string) bool { return slices.Contains(scope.OriginsOf(host), at) })
}

// originAt returns the number of an origin.
func originAt(s *survey.Survey, name string) (int, error) {
	for i, origin := range s.Scope().Origins() {
		if origin.Name == name {
			return i, nil
		}
	}
	return 0, term.Usage("there is no origin %q", term.Clean(name, 253))
}

// The words for how far the newest run is with a page.
const (
	progressVisited = "visited" // by this run
	progressWaiting = "waiting"
	progressMissing = "missing" // counted in known_missing
)

// inProgress selects the pages with which the newest run is so far.
func (t *pageTable) inProgress(word string) (func(schema.ID) bool, error) {
	is := map[string]func(*survey.Page) bool{progressVisited: (*survey.Page).VisitedNow,
		progressWaiting: (*survey.Page).Waits}[word]
	if word == progressMissing {
		lacks, err := t.survey.Lacks()
		if err != nil {
			return nil, err
		}
		is = lacks
	}
	chosen := make([]bool, t.survey.URLs()+1)
	err := t.survey.EachSketch(func(p *survey.Page) error {
		chosen[p.ID] = is(p)
		return nil
	})
	return func(id schema.ID) bool { return chosen[id] }, err
}

// changed selects the pages that differ between two runs.
func (t *pageTable) changed(q desk.Query) (func(schema.ID) bool, error) {
	d, err := answer.CompareRuns(t.survey, schema.RunID(q.Number("from")), schema.RunID(q.Number("to")))
	if err != nil {
		return nil, err
	}
	chosen := make([]bool, t.survey.URLs()+1)
	err = d.EachPage(func(c *survey.PageChange) error {
		chosen[c.ID] = c.Change.String() == q.Text("change")
		return nil
	})
	return func(id schema.ID) bool { return chosen[id] }, err
}

// requestedIn selects the pages that a run requested.
func (t *pageTable) requestedIn(run schema.RunID) (func(schema.ID) bool, error) {
	asked := make([]bool, t.survey.URLs()+1)
	from, end := schema.Seq(0), t.store.LastSeq()+1
	for _, r := range t.survey.Runs() {
		switch {
		case r.ID == run:
			from = r.FirstVisit
		case r.ID > run && r.FirstVisit < end:
			end = r.FirstVisit
		}
	}
	if from == 0 {
		return nil, term.Usage("there is no run %d", run)
	}
	err := t.store.View(func(tx *kv.Tx) error {
		return tx.Visits.Gists(func(seq schema.Seq, _ schema.ID) bool { return seq >= from && seq < end },
			func(g *kv.Gist) error {
				asked[g.URL] = asked[g.URL] || g.Requests > 0
				return nil
			})
	})
	return func(id schema.ID) bool { return asked[id] }, err
}
