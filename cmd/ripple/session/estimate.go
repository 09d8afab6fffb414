package session

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/sumi-ripple/ripple/cmd/ripple/output"
	"github.com/sumi-ripple/ripple/cmd/ripple/show"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/census"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// An estimate is a number of requests to hosts, and how long they take. Hosts are requested in parallel, so the host
// that takes longest counts.
type estimate struct {
	Hosts, Requests int
	Time            time.Duration
}

// add adds requests to a host, one after each gap.
func (e *estimate) add(requests int, gap time.Duration) {
	if requests > 0 {
		e.Hosts++
		e.Requests += requests
		e.Time = max(e.Time, times(requests, gap))
	}
}

// times returns n gaps, or the longest duration if the product overflows: a budget may be practically unlimited.
func times(n int, gap time.Duration) time.Duration {
	if gap > 0 && time.Duration(n) > math.MaxInt64/gap {
		return math.MaxInt64
	}
	return time.Duration(n) * gap
}

// showEstimate shows the least that a crawl costs, for the pages that are known, and the most, for the known hosts of
// origins.
func showEstimate(w io.Writer, p *prospect, peeks []crawl.Peeked) error {
	hosts, err := p.hosts(peeks)
	if err != nil {
		return err
	}
	least, err := p.least(hosts, peeks)
	if err != nil {
		return err
	}
	most := p.most(hosts)
	fmt.Fprintln(w, "\nestimate")
	t := term.NewTable(w)
	t.Row("  at least", fmt.Sprintf("%s to %s, in about %s", term.Count(least.Requests, "request", ""),
		term.Count(least.Hosts, "host", ""), term.Span(least.Time)))
	t.Row("  at most", fmt.Sprintf("%s for pages to %s of origins, in about %s", term.Count(most.Requests, "request", ""),
		term.Count(most.Hosts, "known host", ""), term.Span(most.Time)))
	if wide := wildcards(p.cfg); len(wide) > 0 {
		t.Row("  and", "as much to further hosts below "+listed(wide))
	}
	if c := p.cfg.Crawler; c.MaxDepth > 0 {
		t.Row("  and", fmt.Sprintf("%s to each host on the way within %s", term.Count(c.MaxDomainRequests, "request", ""),
			term.Count(c.MaxDepth, "link", "")))
	}
	return t.Flush()
}

// hosts returns the hosts of the state, and the hosts of the seeds with the delays of their robots.txt.
func (p *prospect) hosts(peeks []crawl.Peeked) (map[string]*schema.Host, error) {
	all := map[string]*schema.Host{}
	if p.store != nil && !p.fresh {
		err := p.store.View(func(tx *kv.Tx) error {
			return tx.Hosts.Each(1, func(h *schema.Host) (bool, error) {
				if h.Waiting > 0 || len(h.Retries) > 0 || len(p.cfg.Scope().OriginsOf(h.Name)) > 0 {
					all[h.Name] = h
				}
				return true, nil
			})
		})
		if err != nil {
			return nil, err
		}
	}
	for _, seed := range p.seeds() {
		if name := weburl.Host(seed); all[name] == nil {
			all[name] = &schema.Host{Name: name}
		}
	}
	for _, peek := range peeks {
		if h := all[peek.Host]; h != nil && peek.Rules != nil {
			h.CrawlDelay, _ = peek.Rules.CrawlDelay()
		}
	}
	return all, nil
}

// least returns the least that a crawl costs: the pages that wait in a run that resumes, or else the seeds and the
// robots.txt of their hosts, unless a crawl has a copy of it.
func (p *prospect) least(hosts map[string]*schema.Host, peeks []crawl.Peeked) (*estimate, error) {
	var e estimate
	if p.goes {
		return &e, p.store.View(func(tx *kv.Tx) error { return p.addWaiting(tx, hosts, &e) })
	}
	asked := map[string]int{} // requests, by host
	for _, peek := range peeks {
		if peek.Copied.IsZero() || peek.Asked {
			asked[peek.Host]++
		}
	}
	if err := p.addSeeds(asked); err != nil {
		return nil, err
	}
	for name, n := range asked {
		e.add(n, p.cfg.FullDelay(cmp.Or(hosts[name], &schema.Host{Name: name})))
	}
	return &e, nil
}

// addWaiting adds the pages that wait in the run that resumes, counted as "ripple stats" does.
func (p *prospect) addWaiting(tx *kv.Tx, hosts map[string]*schema.Host, e *estimate) error {
	runs, err := tx.Runs.All()
	if err != nil || len(runs) == 0 {
		return err
	}
	run := &runs[len(runs)-1]
	pace := census.NewPace(p.cfg, run, func(name string) *schema.Host { return hosts[name] })
	for _, h := range hosts {
		waiting, err := survey.WaitingPages(p.store, tx, run, h)
		if err != nil {
			return err
		}
		if pages, seconds := pace.Of(h, waiting); pages > 0 {
			e.add(int(pages), show.Duration(seconds/pages))
		}
	}
	return nil
}

// addSeeds adds the requests for the seeds to those of their hosts.
func (p *prospect) addSeeds(asked map[string]int) error {
	for _, norm := range p.seeds() {
		due, err := p.due(norm)
		if err != nil {
			return err
		}
		asked[weburl.Host(norm)] += due
	}
	return nil
}

// seeds returns the pages that the seeds name, each once.
func (p *prospect) seeds() (norms []string) {
	seen := map[string]bool{}
	for _, q := range p.cfg.Quality {
		for _, seed := range q.Seeds {
			if u, err := p.cfg.Rules().Parse(seed); err == nil && !seen[u.Norm] {
				seen[u.Norm] = true
				norms = append(norms, u.Norm)
			}
		}
	}
	return norms
}

// due returns the least number of requests for a seed: 0 if its last visit is recent enough to be kept.
func (p *prospect) due(norm string) (n int, err error) {
	if p.store == nil || p.fresh {
		return 1, nil
	}
	err = p.store.View(func(tx *kv.Tx) error {
		n = 1
		name, pathQuery := weburl.Split(norm)
		host, known, err := tx.Hosts.Lookup(name)
		if err != nil || !known {
			return err
		}
		id, known, err := tx.URLs.Lookup(p.store.Hash(schema.KindPage, norm), host, schema.KindPage, pathQuery)
		if err != nil || !known || p.store.Asked(id) == 0 {
			return err
		}
		v, err := tx.Visits.At(p.store.Asked(id))
		if err != nil || !v.Final() {
			return err
		}
		if p.cfg.Recrawl.Young(time.Since(v.At), v.Fresh) {
			n = 0
		}
		return nil
	})
	return n, err
}

// most returns the most that a crawl costs: the budgets of the origins' hosts.
func (p *prospect) most(hosts map[string]*schema.Host) *estimate {
	var e estimate
	for name, h := range hosts {
		if len(p.cfg.Scope().OriginsOf(name)) > 0 {
			e.add(p.cfg.Budget(name), p.cfg.FullDelay(h))
		}
	}
	return &e
}

// listed names the first patterns, and says how many more there are.
func listed(all []string) string {
	const most = 10
	text := strings.Join(all[:min(most, len(all))], ", ")
	if n := len(all) - most; n > 0 {
		text += " and " + term.Commas(n) + " more"
	}
	return text
}

// wildcards are the patterns of origins that more hosts may match.
func wildcards(cfg *config.Config) (all []string) {
	for _, q := range cfg.Quality {
		if strings.HasPrefix(q.Name, "*.") {
			all = append(all, q.Name)
		}
	}
	slices.Sort(all)
	return all
}

// showOutputs shows what is written when a run ends.
func showOutputs(w io.Writer, cfg *config.Config) {
	t := term.NewTable(w)
	t.Row("\noutputs, when the run ends")
	defer t.Flush()
	if cfg.Cluster.Hub != "" {
		t.Row("  none; they need the map that \"ripple merge\" makes")
		return
	}
	none := true
	for _, f := range output.Formats() {
		if f.Path != nil && f.Path(cfg) != "" {
			none = false
			t.Row("  "+f.Key, term.Shown(f.Path(cfg)))
		}
	}
	if cfg.Pages.Keep {
		none = false
		t.Row("  [pages] path", term.Shown(cfg.Pages.Path)+" (all the time)")
	}
	if path := cfg.Monitor.MetricsCSV; path != "" {
		none = false
		t.Row("  [monitor] metrics-csv", term.Shown(path)+" (all the time)")
	}
	if none {
		t.Row("  none; \"ripple export\" writes what is wanted")
	}
}
