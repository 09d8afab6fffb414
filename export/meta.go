package export

import (
	"fmt"
	"strings"
	"time"

	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/amount"
)

// Meta describes a graph in every output file.
type Meta struct {
	Level    Level
	Runs     string // "1", "all"
	Run      schema.RunID
	Status   string // of that run
	Reason   string // why that run ended; empty: it has not
	Without  string // missing shards of a terrain: "without shard 3"; empty: none
	Started  time.Time
	Finished time.Time // zero: not yet
	Cut      int       // hosts not visited to the end in that run
	CutSites int       // sites with unrecorded hosts
	Omitted  int       // links on pages to URLs that are not recorded
	Past     bool      // a later run has followed, so not all cuts are known
	Options  string    // what was left out on request; empty: nothing
	Inlinks  string    // web graph of the hosts outside that were added; empty: none
	Rules    string    // versions of the tables of rules that have judged the answers of that run
}

// Meta returns the description of the graph.
func (g *Graph) Meta() Meta { return g.meta }

// Partial describes why a graph is incomplete: hosts or sites were cut, links were left out, or
// this is unknown. It is empty if the graph is complete.
func (m Meta) Partial() string {
	var cut []string
	for _, part := range []struct {
		n     int
		thing string
		how   string
	}{{m.Cut, "host", " cut"}, {m.CutSites, "site", " cut"}, {m.Omitted, "link", " left out"}} {
		if part.n > 0 {
			cut = append(cut, amount.Of(part.n, part.thing, "")+part.how)
		}
	}
	switch {
	case len(cut) > 0:
		return "partial: " + strings.Join(cut, ", ")
	case m.Past:
		return "perhaps partial: what was met and not recorded is not known any more"
	}
	return ""
}

// Date returns the day on which the run ended or, if it has not, started.
func (m Meta) Date() string {
	at := m.Finished
	if at.IsZero() {
		at = m.Started
	}
	return at.UTC().Format(time.DateOnly)
}

// String returns everything in one line.
func (m Meta) String() string {
	parts := []string{m.Level.String() + " level", fmt.Sprintf("run %d", m.Run), m.Status}
	if m.Runs == "all" {
		parts[1] = fmt.Sprintf("all runs until %d", m.Run)
	}
	for _, part := range []string{m.Reason, m.Partial(), m.Options} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	if m.Inlinks != "" {
		parts = append(parts, "with hosts outside that link to origins, by the web graph "+m.Inlinks)
	}
	if m.Rules != "" {
		parts = append(parts, "judged by "+m.Rules)
	}
	return strings.Join(parts, "; ")
}

func (g *Graph) readMeta() error {
	m := &g.meta
	r := g.survey.Run()
	m.Level, m.Runs, m.Options = g.opts.Level, fmt.Sprint(r.ID), g.opts.String()
	if web, ok, err := g.survey.Graph(); err != nil {
		return err
	} else if ok && g.opts.Inlinks {
		m.Inlinks = web.Release + ", a sample of the web"
	}
	m.Rules = r.Rules
	if g.opts.All {
		m.Runs = "all"
	}
	m.Past = g.survey.Past()
	if r.End.Without != (schema.Shards{}) {
		m.Without = "without " + r.End.Without.Named()
	}
	m.Run, m.Status, m.Reason, m.Started, m.Finished = r.ID, r.Status.String(), r.End.String(), r.Started, r.Finished
	counts, err := g.survey.Counts()
	if err != nil {
		return err
	}
	sites, err := survey.CutSites(g.survey)
	if err != nil {
		return err
	}
	m.Omitted, m.CutSites = counts.LinksOmitted-counts.LinksRefused, len(sites)
	return g.survey.Hosts.Each(func(r *survey.HostReport) error {
		if r.Cover.Cut() {
			m.Cut++
		}
		return nil
	})
}
