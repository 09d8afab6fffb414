package serve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"slices"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/cmd/ripple/desk"
	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl/census"
	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/export/broken"
	"github.com/sumi-ripple/ripple/export/changes"
	"github.com/sumi-ripple/ripple/export/graph"
	"github.com/sumi-ripple/ripple/export/suggest"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

func (o *opened) answerStats(_ context.Context, q desk.Query) (any, error) {
	return answer.NewStats(o.State, q.Number("limit"))
}

func (o *opened) answerHost(_ context.Context, q desk.Query) (any, error) {
	if !answer.IsHost(q.Text("domain")) {
		return nil, term.Usage("%q is not the name of a host", term.Clean(q.Text("domain"), 200))
	}
	o.moment = o.Live != nil
	return o.InspectHost(q.Text("domain"), q.Text("place"), q.Number("limit"))
}

func (o *opened) answerPage(_ context.Context, q desk.Query) (any, error) {
	o.moment = o.Live != nil
	return o.InspectPage(q.Text("url"), q.Text("place"), q.Number("limit"))
}

func (o *opened) answerPath(_ context.Context, q desk.Query) (any, error) {
	_, paths, err := o.Paths(q.Text("url"))
	return paths, err
}

func (o *opened) answerSuggest(_ context.Context, q desk.Query) (any, error) {
	found, err := suggest.Find(o.Survey, suggest.Options{MinOrigins: q.Number("min_origins"), Limit: q.Number("limit")})
	if err != nil {
		return nil, err
	}
	return answer.NewSuggestions(found), nil
}

func (o *opened) answerOutside(_ context.Context, q desk.Query) (any, error) {
	return answer.NewOutside(o.Survey, q.Number("min_origins"), q.Number("limit"))
}

func (o *opened) answerDuplicates(_ context.Context, q desk.Query) (any, error) {
	host := schema.HostID(0)
	if q.Text("domain") != "" {
		name, err := answer.HostNamed(q.Text("domain"))
		if err != nil {
			return nil, err
		}
		known := false
		if host, known, err = o.Survey.Hosts.Lookup(name); err != nil || !known {
			return &answer.Duplicates{Domain: name, Clusters: []answer.DuplicateCluster{}}, err
		}
	}
	return answer.NewDuplicates(o.Survey, host, q.Number("limit"))
}

func (o *opened) answerInlinks(_ context.Context, q desk.Query) (any, error) {
	return answer.NewInlinks(o.Survey, q.Number("min_origins"), q.Number("limit"))
}

func (o *opened) answerBroken(_ context.Context, q desk.Query) (any, error) {
	all, err := o.brokenLinks()
	if err != nil {
		return nil, err
	}
	choice := brokenChoice(q)
	links, walled, most := choice.Of(all.broken), choice.OfWalled(all.walled), q.Number("limit")
	links = slices.Concat(links[:min(len(links), most)], walled[:min(len(walled), most)])
	return desk.Stream(func(w io.Writer) error {
		return answer.WriteBroken(answer.NewJSONRows(w, answer.BrokenColumns(false)), links, false)
	}), nil
}

func (o *opened) answerBrokenTargets(_ context.Context, q desk.Query) (any, error) {
	links, err := o.brokenLinks()
	if err != nil {
		return nil, err
	}
	return answer.NewBrokenTargets(links.broken, links.walled, brokenChoice(q), q.Number("limit")), nil
}

// mostBroken is the number of broken links up to which they are kept for the next question.
const mostBroken = 1_000_000

// brokenLinks are all broken links, and apart from them those to walled pages.
type brokenLinks struct{ broken, walled []broken.Link }

// brokenLinks returns all links that [broken.Find] finds, which must not be changed.
func (o *opened) brokenLinks() (links *brokenLinks, err error) {
	if o.broken != nil {
		return o.broken, nil
	}
	links = new(brokenLinks)
	links.broken, links.walled, err = broken.Find(o.Survey)
	if err == nil && len(links.broken)+len(links.walled) <= mostBroken {
		o.broken = links
	}
	return links, err
}

func brokenChoice(q desk.Query) broken.Choice {
	return broken.Choice{Origin: q.Text("quality_origin"), State: q.Text("state"), Search: q.Text("search")}
}

// answerOrigins returns what a crawl would report if it resumed now.
func (o *opened) answerOrigins(_ context.Context, _ desk.Query) (any, error) {
	runs := o.Runs()
	cfg, err := statefile.LastConfig(o.Store)
	if err != nil || len(runs) == 0 {
		return answer.OriginList{Origins: []census.Origin{}}, err
	}
	all, err := census.OriginsOf(o.Store, cfg, &runs[len(runs)-1])
	return answer.OriginList{Origins: all}, err
}

// answerRuns lists the runs.
func (o *opened) answerRuns(_ context.Context, _ desk.Query) (any, error) {
	counts, err := o.Counts()
	if err != nil {
		return nil, err
	}
	list := answer.RunList{Runs: []answer.StatsRun{}}
	for _, run := range o.Runs() {
		errs := run.Errors
		if run.ID == o.Run().ID { // including those that only the survey finds
			errs = counts.Errors
		}
		list.Runs = append(list.Runs, answer.NewStatsRun(run, errs))
	}
	slices.Reverse(list.Runs)
	return list, nil
}

// answerHistory returns the progress of a run over time.
func (o *opened) answerHistory(_ context.Context, q desk.Query) (h any, err error) {
	viewErr := o.Store.View(func(tx *kv.Tx) error {
		h, err = answer.NewHistory(tx, q.Number("run"))
		return nil
	})
	return h, errors.Join(err, viewErr)
}

// answerRequests returns the last visits to a host.
func (o *opened) answerRequests(_ context.Context, q desk.Query) (any, error) {
	domain, err := answer.HostNamed(q.Text("domain"))
	if err != nil {
		return nil, err
	}
	return o.visitsTo(domain)
}

// visitsTo returns the last visits to a host. The time between two runs does not count as a politeness delay.
func (o *opened) visitsTo(domain string) (answer.RequestList, error) {
	found, run := answer.RequestList{Domain: domain, Requests: []answer.Request{}}, schema.RunID(0)
	err := o.Store.View(func(tx *kv.Tx) error {
		host, known, err := tx.Hosts.Lookup(found.Domain)
		if err != nil || !known {
			return err
		}
		return o.eachVisit(tx, host, func(v *schema.Visit) bool {
			if v.Kept || v.Archived {
				return true
			}
			if n := len(found.Requests); n > 0 && v.Run == run {
				next := &found.Requests[n-1]
				next.GapMS = next.At.Sub(v.At).Milliseconds()
			}
			found.Requests, run = append(found.Requests, answer.Request{
				URL: v.Form, Kind: "page", At: v.At.UTC(),
				Status: v.Status, ResponseMS: v.ResponseTime.Milliseconds(), Error: v.Reason.String(),
			}), v.Run
			return len(found.Requests) <= KeptRequests
		})
	})
	found.Requests = found.Requests[:min(len(found.Requests), KeptRequests)]
	return found, err
}

// eachVisit calls f for the visits to a host, the newest first, until f returns false. It reads no other visits.
func (o *opened) eachVisit(tx *kv.Tx, host schema.HostID, f func(*schema.Visit) bool) error {
	next := make([]uint64, o.Store.LastSeq()/64+1) // bits: for each URL, its newest visit that f has not seen
	set := func(seq schema.Seq) { next[seq/64] |= 1 << (seq % 64) }
	for id := schema.ID(1); int(id) <= o.Store.URLs(); id++ {
		if seq := o.Store.Latest(id); seq != 0 && o.Hosts.Of(id) == host {
			set(seq)
		}
	}
	for i := len(next) - 1; i >= 0; {
		if next[i] == 0 {
			i--
			continue
		}
		bit := bits.Len64(next[i]) - 1
		next[i] &^= 1 << bit
		v, err := tx.Visits.At(schema.Seq(64*i + bit))
		if err != nil {
			return err
		}
		if !f(v) {
			return nil
		}
		if v.Prev != 0 && v.Prev < v.Seq {
			set(v.Prev)
		}
	}
	return nil
}

// maxGraph is the number of hosts that the map of the desk shows.
const maxGraph = 5000

func graphParams() []desk.Param {
	return []desk.Param{{Name: "kind", Kind: desk.Text, Words: words(schema.LinkKinds()),
		Doc: "only links of this kind; without it of any"}}
}

func (o *opened) answerGraph(_ context.Context, q desk.Query) (any, error) {
	options := export.Options{Level: export.LevelHost, Inlinks: true}
	for _, kind := range schema.LinkKinds() {
		if q.Text("kind") != kind.String() {
			continue
		}
		if options.Kinds = schema.Kinds(0).Add(kind); kind != schema.LinkAnchor { // only anchors are in the text
			options.Counted = export.AllLinks
		}
	}
	g, err := export.New(o.Survey, options)
	if err != nil {
		return nil, err
	}
	m, err := graph.Foremost(g, maxGraph)
	if err != nil {
		return nil, err
	}
	text, err := m.JSON()
	return desk.Stream(func(w io.Writer) error { _, err := w.Write(text); return err }), err
}

func (o *opened) answerDiff(_ context.Context, q desk.Query) (any, error) {
	d, err := answer.CompareRuns(o.Survey, schema.RunID(q.Number("from")), schema.RunID(q.Number("to")))
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := changes.JSON(&b, o.Survey, d); err != nil {
		return nil, fmt.Errorf("compare runs: %w", err)
	}
	return desk.Stream(func(w io.Writer) error { _, err := b.WriteTo(w); return err }), nil
}

const (
	KeptHosts    = 1000 // those requested last
	KeptRequests = 100  // for each of them
)
